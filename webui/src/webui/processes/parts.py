"""The parts of this web half, and the code they share."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from webui.processes.part import Part

_SHARED = (
    "webui.asgi",
    "webui.urls",
    "webui.context",
    "webui.celery",
    "webui.jobs.tasks",
    "webui.jobs.scheduler",
    "webui.metrics.sampler",
    "webui.accounts.command_line",
    "webui.storage.clean_up",
    "django.contrib.auth.context_processors",
    "django.contrib.messages.context_processors",
    "django.contrib.messages.storage.fallback",
    "django.contrib.sessions.serializers",
    "django.template.context_processors",
    "django.template.loaders.app_directories",
    "django.template.loaders.cached",
    "django.template.loaders.filesystem",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.http.httptools_impl",
)
# Also the first import of Celery when a worker starts.
_SHARED_WITH_A_WORKER = (
    "billiard.dummy",
    "billiard.pool",
    "celery.app.amqp",
    "celery.app.control",
    "celery.app.events",
    "celery.app.log",
    "celery.apps.worker",
    "celery.concurrency.thread",
    "celery.events.state",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.consumer.delayed_delivery",
    "celery.worker.strategy",
    "kombu.pidbox",
    "kombu.transport.redis",
    "webui.jobs.time_limit",
)


def parts(server: Mapping[str, Any]) -> tuple[Part, ...]:
    """The server, with uvicorn's settings, and with a broker the worker and the scheduler."""
    pages = Part("server", lambda: serve(server), vital=True)
    if not settings.CELERY_BROKER_URL:
        return (pages,)
    return (
        pages,
        Part("worker", work, nice=5, oom_score_adj=650),
        Part("scheduler", keep_the_schedule, nice=5, oom_score_adj=650),
    )


def preload() -> None:
    """Import the modules that any part needs, so that all parts share their memory. No socket, no thread.

    The objects that exist afterwards are never garbage: a collection that examined them would copy their
    pages.
    """
    for name in _SHARED + (_SHARED_WITH_A_WORKER if settings.CELERY_BROKER_URL else ()):
        importlib.import_module(name)
    from webui.celery import app

    app.loader.import_default_modules()
    app.finalize()
    if threading.active_count() != 1:
        raise RuntimeError(f"a thread runs before the fork: {threading.enumerate()}")
    gc.collect()
    gc.freeze()


def serve(server: Mapping[str, Any]) -> None:
    """Pages and REST, until SIGTERM."""
    import uvicorn

    # Each is named explicitly: automatic detection by uvicorn would import unused modules.
    uvicorn.run(
        "webui.asgi:application",
        loop="uvloop",
        http="httptools",
        ws="none",
        server_header=False,
        proxy_headers=False,
        access_log=False,
        timeout_graceful_shutdown=3,
        **server,
    )


def work() -> None:
    """The jobs that users start, one after the other, until SIGTERM."""
    from webui.celery import app
    from webui.jobs import time_limit

    # The parent has already run the checks.
    os.environ["CELERY_SKIP_CHECKS"] = "1"
    time_limit.watch()
    # A job runs in a thread: a process would cost memory, and without either, nobody gets an answer during a
    # job. Celery's command line is not used, because it brings a shell with completion: 8 MB that every child
    # would share.
    worker = app.Worker(loglevel="INFO", pool="threads", concurrency=1)
    worker.start()
    sys.exit(worker.exitcode)


def keep_the_schedule() -> None:
    """The recurring tasks, until SIGTERM. They do not use the worker's queue, so that no slow tool delays
    them.
    """
    from webui.jobs.scheduler import Scheduler

    ends = {signal.SIGTERM, signal.SIGINT}
    # Blocked before its threads start: they inherit the mask, so that this thread gets the signal.
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    scheduler = Scheduler()
    scheduler.start()
    signal.sigwait(ends)
    scheduler.stop()


def arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """uvicorn's settings from a command's options: those that were given."""
    names: Sequence[str] = ("uds", "host", "port", "fd", "ssl_keyfile", "ssl_certfile")
    return {name: options[name] for name in names if options.get(name) is not None}
