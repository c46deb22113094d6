"""Create the first admin of a new router; does nothing once an admin has signed in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from webui.accounts.crypt_hasher import CryptPasswordHasher
from webui.accounts.models import User
from webui.accounts.roles import Role
from webui.accounts.services import FIRST_ADMINISTRATOR

MAX_BYTES = 1024


class Command(BaseCommand):
    """Run before the web server at every boot."""

    help = "Make an admin from a crypt(3) hash in a file, unless this router has an admin who signed in."

    def add_arguments(self, parser: CommandParser) -> None:
        """Name and hash file."""
        parser.add_argument("--username", default=FIRST_ADMINISTRATOR)
        parser.add_argument("--password-hash-file", type=Path, required=True)

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        """Run it."""
        username = str(options["username"])
        unused = f"{CryptPasswordHasher.algorithm}$"
        waiting = User.objects.filter(username=username, role=Role.ADMIN, password__startswith=unused).first()
        others = User.objects.filter(role=Role.ADMIN)
        if (others.exclude(pk=waiting.pk) if waiting is not None else others).exists():
            return
        try:
            lines = options["password_hash_file"].read_text()[:MAX_BYTES].splitlines()
        except OSError as error:
            raise CommandError(f"{options['password_hash_file']}: {error.strerror}") from None
        hashed = lines[0].strip() if lines else ""
        if not hashed.startswith("$"):
            raise CommandError(f"{options['password_hash_file']} holds no crypt(3) hash")
        user = User.objects.filter(username=username).first() or User(username=username)
        # An admin who never signed in gets this boot's password, which a corrected seed may have changed.
        if waiting is None:
            user.role, user.is_active = Role.ADMIN, True
        user.password = f"{CryptPasswordHasher.algorithm}${hashed}"
        try:
            user.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        user.save()
