"""Run the web half: the server and, with a broker, the worker and the scheduler, forked from this process."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from webui.processes.parent import Parent
from webui.processes.parts import arguments, parts, preload


class Command(BaseCommand):
    """Serve until SIGTERM or SIGINT, or until the server fails to stay up."""

    # The commands that prepare the database have run the checks.
    requires_system_checks = ()
    help = "Serve pages and REST; with CELERY_BROKER_URL also run jobs and what recurs."

    def add_arguments(self, parser: CommandParser) -> None:
        """The address on which uvicorn listens."""
        parser.add_argument("--uds", help="path of a Unix socket to listen on")
        parser.add_argument("--host", help="address to listen on")
        parser.add_argument("--port", type=int)
        parser.add_argument("--fd", type=int, help="descriptor of a socket that listens")
        parser.add_argument("--ssl-keyfile")
        parser.add_argument("--ssl-certfile")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        """Run it."""
        preload()
        sys.exit(Parent(parts(arguments(options))).run())
