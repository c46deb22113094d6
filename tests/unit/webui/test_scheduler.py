"""What recurs is run on time, whatever else runs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.unit.platform.test_system_tree import TREE, settings
from webui.jobs import scheduler
from webui.jobs.scheduler import Scheduler


class _Task:
    """A task that hangs, or counts its runs."""

    def __init__(self, name: str, hangs: threading.Event | None = None) -> None:
        self.name, self._hangs = name, hangs
        self.runs = threading.Semaphore(0)

    def run(self) -> None:
        self.runs.release()
        if self._hangs is not None:
            assert self._hangs.wait(20)


def test_a_task_that_hangs_keeps_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    slow, sampling = _Task("slow", release), _Task("sampling")
    monkeypatch.setattr(scheduler, "run_here", _Task.run)
    running = Scheduler({slow: 0.01, sampling: 0.01})
    running.start()
    try:
        assert slow.runs.acquire(timeout=10)
        for _ in range(3):
            assert sampling.runs.acquire(timeout=10)
        assert not slow.runs.acquire(blocking=False)
    finally:
        release.set()
        running.stop()


@pytest.mark.parametrize("unit", ["millrace-beat"])
def test_what_recurs_does_not_pass_through_the_queue_of_the_tools(unit: str) -> None:
    command = settings(Path(TREE) / f"usr/lib/systemd/system/{unit}.service")["ExecStart"][0]
    assert "run_schedule" in command and "celery" not in command
