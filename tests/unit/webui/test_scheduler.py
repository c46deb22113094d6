"""What recurs is run on time, whatever else runs."""

from __future__ import annotations

import os
import subprocess
import sys
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


# The real command, in an interpreter of its own, ended by its own signal once it has started.
_STARTED = """
import os, signal, sys
import django
django.setup()
from django.core.management import execute_from_command_line
from webui.jobs import scheduler
scheduler.Scheduler.start = lambda _: os.kill(os.getpid(), signal.SIGTERM)
scheduler.Scheduler.stop = lambda _: None
execute_from_command_line(["webui", "run_schedule"])
print("webui.jobs.scheduler" in sys.modules, "webui.urls" in sys.modules)
"""


def test_what_runs_the_schedule_does_not_keep_the_pages_in_memory() -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "webui.settings", "MILLRACE_COLLECTING": "1"}
    argv = [sys.executable, "-c", _STARTED]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["True", "False"]
