"""Bring database and static files up to this release; running it again changes nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


class Command(BaseCommand):
    """Migrate, collect static files unless they came with the image, create the first admin if requested."""

    # Checks import every page and operation, which takes longer than everything else here.
    requires_system_checks = ()
    help = "Migrate the database and collect static files into MILLRACE_STATE_DIR."

    def add_arguments(self, parser: CommandParser) -> None:
        """The first admin's hash: given here, it saves a second start of Django at each boot."""
        parser.add_argument("--password-hash-file", type=Path, help="for ensure_administrator, too")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        """Run it."""
        if settings.STATE_DIR is None:
            raise CommandError("MILLRACE_STATE_DIR is not set")
        executor = MigrationExecutor(connection)
        # Even with nothing to migrate, Django goes through every model's permissions.
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)
        if settings.STATIC_ROOT is not None and not settings.STATIC_BUILT:
            _forget_half_a_collection(settings.STATIC_ROOT)
            call_command("collectstatic", interactive=False, verbosity=0)
        if options["password_hash_file"] is not None:
            call_command("ensure_administrator", password_hash_file=options["password_hash_file"])


def _forget_half_a_collection(static: Path) -> None:
    """Django writes its list of files in place; after a power failure at that moment, nothing would start
    again.
    """
    try:
        json.loads((static / "staticfiles.json").read_text())
    except FileNotFoundError:
        return
    except ValueError:
        shutil.rmtree(static)
        static.mkdir()
