"""A job that runs too long ends the worker's process; one that ends in time does not."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from celery.signals import task_postrun, task_prerun

from webui.jobs import time_limit


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Set where the process would end."""
    end = threading.Event()
    monkeypatch.setattr("os._exit", lambda _code: end.set())
    time_limit.watch()
    yield end
    task_prerun.disconnect(time_limit._begin)
    task_postrun.disconnect(time_limit._end)


def test_a_job_that_runs_too_long_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, ended: threading.Event
) -> None:
    monkeypatch.setattr(time_limit, "MOST_S", 0.05)
    task_prerun.send(sender=None, task_id="7")
    assert ended.wait(20)


def test_a_job_that_ended_is_not_waited_for(ended: threading.Event) -> None:
    task_prerun.send(sender=None, task_id="7")
    timer = time_limit._running["7"]
    task_postrun.send(sender=None, task_id="7")
    timer.join(20)
    assert not timer.is_alive() and not ended.is_set()
    assert time_limit._running == {}
