"""Hands tasks to a worker: Celery's where a broker is configured, otherwise a thread of this process."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connections, transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

_log = logging.getLogger(__name__)
_ANSWER_S = 2.0
_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="job")


class QueueUnavailable(Exception):
    """The task was not handed over."""


def dispatch(task: Any, *arguments: Any) -> None:
    """Run the Celery task `task` soon, once the current transaction is stored. Returns at once.

    Outside a transaction it raises QueueUnavailable when the broker does not take the task.
    """
    if settings.CELERY_BROKER_URL:
        transaction.on_commit(lambda: _send(task, *arguments))
    else:
        transaction.on_commit(lambda: _threads.submit(run_here, task, *arguments))


def _send(task: Any, *arguments: Any) -> None:
    waits = {"socket_timeout": _ANSWER_S, "socket_connect_timeout": _ANSWER_S, "max_retries": 0}
    try:
        # A connection of its own: the worker's waits for its next task as long as there is none.
        with task.app.connection_for_write(transport_options=waits) as broker:
            task.apply_async(arguments, connection=broker, retry=False)
    except (OperationalError, RedisError, OSError) as error:
        raise QueueUnavailable(f"the broker of jobs does not answer: {error}") from error


def run_here(task: Any, *arguments: Any) -> None:
    """Run a task in this thread; errors are logged, because nobody waits for the thread."""
    close_old_connections()
    try:
        task.apply(args=arguments, throw=True)
    except Exception:
        _log.exception("task %s failed", task.name)
    finally:
        connections.close_all()
