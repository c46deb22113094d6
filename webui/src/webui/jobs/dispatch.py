"""Handing tasks to a worker: Celery's where a broker is configured, else a thread of this process."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connections, transaction

_log = logging.getLogger(__name__)
_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="job")


def dispatch(task: Any, *arguments: Any) -> None:
    """Run the Celery task `task` soon, once the current transaction is stored. Returns at once."""
    if settings.CELERY_BROKER_URL:
        transaction.on_commit(lambda: task.delay(*arguments))
    else:
        transaction.on_commit(lambda: _threads.submit(run_here, task, *arguments))


def run_here(task: Any, *arguments: Any) -> None:
    """Run a task in this thread; what goes wrong is in the log, as nobody waits for the thread."""
    close_old_connections()
    try:
        task.apply(args=arguments, throw=True)
    except Exception:
        _log.exception("task %s failed", task.name)
    finally:
        connections.close_all()
