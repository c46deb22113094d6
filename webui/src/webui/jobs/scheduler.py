"""The recurring tasks: each has a thread of its own, so that none waits for another or for a user's job.

They never go through the broker. With one, a separate process runs them (`webui.processes`); without one, the
web process does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from webui.jobs.dispatch import run_here

SAMPLE_EVERY_S = 10.0
TAKE_OVER_EVERY_S = 10.0
CLEAN_UP_EVERY_S = 900.0


def _recurring() -> Mapping[Any, float]:
    from webui.jobs import tasks

    return {
        tasks.sample_counters: SAMPLE_EVERY_S,
        tasks.take_over_command_line: TAKE_OVER_EVERY_S,
        tasks.clean_up: CLEAN_UP_EVERY_S,
    }


class Scheduler:
    """Runs each task at once, and then this many seconds after the end of its previous run."""

    def __init__(self, schedule: Mapping[Any, float] | None = None) -> None:
        self._schedule = _recurring() if schedule is None else schedule
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin; the first run is due at once."""
        for task, every_s in self._schedule.items():
            thread = threading.Thread(
                target=self._run, args=(task, every_s), name=f"scheduler {task.name}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def stop(self, timeout_s: float = 5.0) -> None:
        """End after the running tasks."""
        self._stopped.set()
        deadline_s = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, deadline_s - time.monotonic()))

    def _run(self, task: Any, every_s: float) -> None:
        due_s = time.monotonic()
        while not self._stopped.wait(max(0.0, due_s - time.monotonic())):
            due_s = time.monotonic() + every_s
            run_here(task)
