"""The web half as deployed: its processes, with TLS and its own SQLite, in front of a router in memory."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from lab import certificates
from tests.api.router_in_memory import RouterInMemory

_START_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Served:
    """Its address and credentials."""

    base_url: str
    ca_file: Path
    state_dir: Path
    username: str
    password: str
    token: str
    router: RouterInMemory
    environment: dict[str, str] = field(repr=False)
    pid: int
    """The process id of its parent process."""

    def children(self) -> dict[str, int]:
        """Process ids of its processes, by the names that they set themselves."""
        pids = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        found: dict[str, int] = {}
        for pid in pids:
            # One that was killed may be gone by now.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found[Path(f"/proc/{pid}/comm").read_text().strip()] = int(pid)
        return found

    def http(self, token: str | None = None) -> httpx.Client:
        """A client that trusts the certificate."""
        context = ssl.create_default_context(cafile=str(self.ca_file))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.base_url, verify=context, headers=headers, timeout=30)


@contextlib.contextmanager
def served(**environment: str) -> Iterator[Served]:
    """Start all processes; `environment` is added to theirs, for example DATABASE_URL."""
    directory = Path(tempfile.mkdtemp(prefix="mr-web-"))
    ca, certificate, key = (directory / name for name in ("ca.pem", "server.pem", "server.key"))
    certificates.make(ca, certificate, key)
    password = directory / "password"
    password.write_text(secrets.token_urlsafe(16) + "\n")
    with RouterInMemory() as router, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        port = listening.getsockname()[1]
        told = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "DJANGO_SETTINGS_MODULE")
        }
        told |= {
            "MILLRACE_STATE_DIR": str(directory / "state"),
            "MILLRACE_AGENT_SOCKET": str(router.socket),
            "MILLRACE_TOKEN_REQUESTS_PER_MINUTE": "1000000",
            **environment,
        }
        try:
            _webui(told, "prepare")
            words = ["--username", "admin", "--password-file", str(password), "--print-token"]
            token = _webui(told, "bootstrap_admin", *words).strip()
            argv = [sys.executable, "-m", "webui", "serve", "--fd", str(listening.fileno())]
            argv += ["--ssl-certfile", str(certificate), "--ssl-keyfile", str(key)]
            with (directory / "web.log").open("wb") as log:
                process = subprocess.Popen(
                    argv, env=told, stdout=log, stderr=log, pass_fds=[listening.fileno()]
                )
            try:
                found = Served(
                    f"https://127.0.0.1:{port}", ca, directory / "state", "admin",
                    password.read_text().strip(), token, router, told, process.pid,
                )  # fmt: skip
                _wait(found, process, directory / "web.log")
                yield found
            finally:
                process.terminate()
                try:
                    process.wait(15)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def _webui(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "webui", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _wait(found: Served, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    with found.http() as http:
        while True:
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            with contextlib.suppress(httpx.TransportError):
                http.get("/api/v1/status", timeout=5)
                return
            time.sleep(0.1)
