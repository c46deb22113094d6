"""Create the first admin, or give an existing one a new password and token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from appliance.errors import ValidationFailed
from webui.accounts import tokens
from webui.accounts.actor import Actor
from webui.accounts.models import User
from webui.accounts.roles import Role

TOKEN_NAME = "bootstrap"
MAX_BYTES = 1024


class Command(BaseCommand):
    """It asks for no password, because anyone who may run it can read the database."""

    help = (
        "Make or reset an admin; a reset ends their sessions and tokens. "
        "The password is the first line of a file, so that no process list shows it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Name, password file, whether to print a token."""
        parser.add_argument("--username", default="admin")
        parser.add_argument("--password-file", type=Path, required=True)
        parser.add_argument("--print-token", action="store_true", help="print a new API token that may write")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        """Run it. Prints the token alone on standard output."""
        username = str(options["username"])
        try:
            lines = options["password_file"].read_text()[:MAX_BYTES].splitlines()
        except OSError as error:
            raise CommandError(f"{options['password_file']}: {error.strerror}") from None
        password = lines[0] if lines else ""
        if len(password) < 12:
            raise CommandError("the password has to have at least 12 characters")
        user = User.objects.filter(username=username).first()
        if user is None:
            user = User.objects.create_user(username, password, Role.ADMIN)
        else:
            user.role, user.is_active = Role.ADMIN, True
            user.set_password(password)
            user.save()
            ended = tokens.revoke_all(user)
            self.stderr.write(f"All sessions of {username} and {ended} API tokens ended.")
        if options["print_token"]:
            actor = Actor(user, "local", "local")
            try:
                _, text = tokens.create(actor, user, TOKEN_NAME, write=True, expires_at=None)
            except ValidationFailed as error:
                raise CommandError(str(error)) from None
            self.stdout.write(text)
