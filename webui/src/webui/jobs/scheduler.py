"""Celery beat's place where there is no broker: one thread of the web process."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from webui.jobs.dispatch import run_here


class Scheduler:
    """Runs the periodic tasks one after the other, as often as Celery's schedule says."""

    def __init__(self, schedule: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        from webui.celery import app
        from webui.jobs import tasks  # noqa: F401 - registers the tasks

        entries = app.conf.beat_schedule if schedule is None else schedule
        self._tasks = [(app.tasks[entry["task"]], float(entry["schedule"])) for entry in entries.values()]
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; the first round is due at once."""
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 5.0) -> None:
        """End after the task that is running."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        due = [time.monotonic()] * len(self._tasks)
        while not self._stopped.wait(max(0.0, min(due) - time.monotonic())):
            for index, (task, every_s) in enumerate(self._tasks):
                if due[index] <= time.monotonic():
                    run_here(task)
                    due[index] = time.monotonic() + every_s
