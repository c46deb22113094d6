"""No job blocks the worker for good: a job that runs too long ends its process, which restarts without
the job.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

from celery.signals import task_postrun, task_prerun

MOST_S = 900.0
_log = logging.getLogger(__name__)
_running: dict[str, threading.Timer] = {}


def watch() -> None:
    """Applies to this process from now on."""
    task_prerun.connect(_begin, weak=False)
    task_postrun.connect(_end, weak=False)


def _begin(task_id: str, **_: Any) -> None:
    timer = threading.Timer(MOST_S, _give_up, (task_id,))
    timer.daemon = True
    _running[task_id] = timer
    timer.start()


def _end(task_id: str, **_: Any) -> None:
    if (timer := _running.pop(task_id, None)) is not None:
        timer.cancel()


def _give_up(task_id: str) -> None:
    _log.error("task %s has run for %.0f s: the worker ends and starts anew", task_id, MOST_S)
    os._exit(1)
