"""Bring database and static files up to this release; again is no change."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    """Migrate and collect static files."""

    help = "Migrate the database and collect static files into MILLRACE_STATE_DIR."

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        """Run it."""
        if settings.STATE_DIR is None:
            raise CommandError("MILLRACE_STATE_DIR is not set")
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
