"""Recurring tasks run on time, whatever else runs."""

from __future__ import annotations

import signal
import threading

import pytest

from webui.jobs import scheduler
from webui.jobs.scheduler import Scheduler
from webui.processes.parts import keep_the_schedule


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


def test_the_scheduler_s_process_runs_it_itself_until_it_is_told_to_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not through the queue: a user's slow tool must not keep the counters' history waiting."""
    done: list[str] = []
    monkeypatch.setattr(scheduler.Scheduler, "start", lambda _: done.append("started"))
    monkeypatch.setattr(scheduler.Scheduler, "stop", lambda _: done.append("stopped"))
    ends = {signal.SIGTERM, signal.SIGINT}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    try:
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        keep_the_schedule()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert done == ["started", "stopped"]
