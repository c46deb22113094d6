"""Run what recurs, in a process of its own: no tool that a user started can keep it waiting."""

from __future__ import annotations

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from webui.jobs.scheduler import Scheduler


class Command(BaseCommand):
    """Run the recurring tasks until SIGTERM or SIGINT."""

    help = "Run the recurring tasks: counters rolled up, what is past its time removed."
    # The checks import every page and the whole REST API, which this process never serves: it would keep
    # them in memory for good. What prepares the database has run the checks before this starts.
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        """Run it."""
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        scheduler = Scheduler()
        scheduler.start()
        stop.wait()
        scheduler.stop()
