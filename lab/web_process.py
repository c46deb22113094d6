"""The web half of the lab: its files, environment, first administrator and processes."""

import os
import secrets
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from lab import certificates
from lab.accounts import Account, as_account, own
from lab.command import run
from lab.databases import Databases
from lab.errors import LabError
from lab.layout import REPOSITORY, Layout
from lab.supervision import Program

HOST = "127.0.0.1"
USERNAME = "admin"
_PRIORITY = 60


def port_is_free(port: int) -> bool:
    """Whether a server could listen on this port of 127.0.0.1 now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # A port is free for a server even if its last connections are still in TIME_WAIT.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


@dataclass(frozen=True)
class Web:
    """The web half of one lab, run as `account`."""

    layout: Layout
    account: Account
    port: int
    databases: Databases | None

    @property
    def base_url(self) -> str:
        """The URL for a browser."""
        return f"https://{HOST}:{self.port}"

    @property
    def _certificate(self) -> Path:
        return self.layout.certificate

    @property
    def _key(self) -> Path:
        return self.layout.web / "server.key"

    @property
    def _password_file(self) -> Path:
        return self.layout.web / "admin-password"

    @property
    def _token_file(self) -> Path:
        return self.layout.web / "admin-token"

    def prepare(self) -> None:
        """Make directory, certificates and password, once."""
        self.layout.web.mkdir(mode=0o700, exist_ok=True)
        if not self.layout.ca_file.exists() or not self._key.exists():
            certificates.make(self.layout.ca_file, self._certificate, self._key)
            self.layout.ca_file.chmod(0o644)
        if not self._password_file.exists():
            self._password_file.touch(mode=0o600)
            self._password_file.write_text(secrets.token_urlsafe(12) + "\n")
        own(self.layout.web, self.account)

    def environment(self) -> dict[str, str]:
        """The environment of the web half."""
        values = {
            "DJANGO_SETTINGS_MODULE": "webui.settings",
            "MILLRACE_AGENT_SOCKET": str(self.layout.agent_socket),
            "MILLRACE_STATE_DIR": str(self.layout.web),
            "MILLRACE_ALLOWED_HOSTS": f"{HOST},localhost",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.layout.web),
        }
        if self.databases is not None:
            values["DATABASE_URL"] = self.databases.database_url()
            values["REDIS_URL"] = self.databases.redis_url()
            values["CELERY_BROKER_URL"] = self.databases.broker_url()
        return values

    def migrate(self) -> None:
        """Bring the database to this version's schema."""
        self._webui("migrate")

    def ensure_administrator(self) -> None:
        """Create the administrator and its API token, once."""
        if self._token_file.exists():
            return
        words = ["--username", USERNAME, "--password-file", str(self._password_file), "--print-token"]
        lines = self._webui("bootstrap_admin", *words).split()
        if not lines:
            raise LabError("bootstrap_admin printed no token")
        self._token_file.touch(mode=0o600)
        self._token_file.write_text(lines[-1] + "\n")

    def password(self) -> str:
        """The administrator's password."""
        return self._password_file.read_text().strip()

    def token(self) -> str:
        """The administrator's API token."""
        return self._token_file.read_text().strip()

    def programs(self) -> list[Program]:
        """The parent of the server and, with a broker, of the worker and the scheduler."""
        server = ["webui", "serve", "--host", HOST, "--port", str(self.port)]
        server += ["--ssl-keyfile", str(self._key), "--ssl-certfile", str(self._certificate)]
        return [self._program("web", server)]

    def _program(self, name: str, module: list[str]) -> Program:
        return Program(
            name,
            [sys.executable, "-m", *module],
            environment=self.environment(),
            user=None if self.account.uid == 0 else self.account.name,
            priority=_PRIORITY,
            directory=REPOSITORY,
        )

    def _webui(self, *words: str) -> str:
        argv = as_account(self.account, [sys.executable, "-m", "webui", *words])
        return run(argv, env={**os.environ, **self.environment()}, timeout_s=180)
