"""A booted Millrace: its machine, its shell over ssh, its REST API."""

from __future__ import annotations

import os
import shlex
import ssl
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from lab.command import run
from tests.image.machine import Machine
from tests.image.patience import BOOT_S, limit_s, wait_for, wall_time
from tests.live_lab import json_of

HTTPS = 443
SSH = 22
COMMIT_S = 600.0


@dataclass(frozen=True)
class Credentials:
    """How the tests get in: what a seed told the router, or the console told them. No key: by password."""

    username: str
    password: str
    private_key: Path | None = None

    @property
    def public_key(self) -> str:
        """The line for authorized_keys."""
        return Path(f"{self.private_key}.pub").read_text().strip()

    @classmethod
    def make(cls, directory: Path, *, username: str = "admin", password: str) -> Credentials:
        """With a new key pair in `directory`."""
        key = directory / "id_ed25519"
        if not key.exists():
            run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "image-tests", "-f", str(key)])
        return cls(username, password, key)


@dataclass
class Router:
    """A running router, reached over the forwarded ports of its management NIC."""

    machine: Machine
    credentials: Credentials
    _api: httpx.Client | None = field(default=None, repr=False)
    _sudo: list[str] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        """Where a browser finds it."""
        return f"https://127.0.0.1:{self.machine.ports[HTTPS]}"

    def wait_until_up(self, what: str = "boot to REST") -> None:
        """Wait until the pages answer and the agent has told the web half its state."""
        with wall_time(what):
            wait_for(self._answers, timeout_s=BOOT_S, what="the login page over https", pause_s=3)

    def _answers(self) -> bool:
        self.machine.check_alive()
        try:
            with self._client() as client:
                return client.get("/login").status_code == 200
        except (httpx.HTTPError, OSError):
            return False

    def certificate(self) -> str:
        """The certificate it shows, as PEM."""
        return ssl.get_server_certificate(("127.0.0.1", self.machine.ports[HTTPS]), timeout=30)

    def _client(self, **settings: Any) -> httpx.Client:
        """A client that trusts exactly the certificate the router shows now (its own, self-signed)."""
        context = ssl.create_default_context(cadata=self.certificate())
        context.check_hostname = False  # its names are the guest's, not the forwarded port's
        return httpx.Client(base_url=self.base_url, verify=context, timeout=limit_s(240), **settings)

    @property
    def api(self) -> httpx.Client:
        """The REST API with a token of the administrator; the first use logs in."""
        if self._api is None:
            self._api = self._client(headers={"Authorization": f"Bearer {self.log_in()}"})
            self._api.base_url = httpx.URL(f"{self.base_url}/api/v1")
        return self._api

    def forget_api(self) -> None:
        """Drop the connections, for a machine that was restarted; the token stays."""
        if self._api is not None:
            token = self._api.headers["Authorization"]
            self._api.close()
            self._api = self._client(headers={"Authorization": token})
            self._api.base_url = httpx.URL(f"{self.base_url}/api/v1")

    def log_in(self, password: str | None = None) -> str:
        """Log in on the login page as a browser does, and make an API token there. Returns the token."""
        with self._client() as browser:
            page = browser.get("/login")
            assert page.status_code == 200, page.text
            form = {
                "csrfmiddlewaretoken": browser.cookies.get("csrftoken") or _csrf_field(page.text),
                "username": self.credentials.username,
                "password": self.credentials.password if password is None else password,
            }
            referer = {"Referer": f"{self.base_url}/login"}
            answer = browser.post("/login", data=form, headers=referer)
            assert answer.status_code == 302, f"the login was refused: {answer.status_code}"
            csrf = browser.cookies.get("csrftoken") or _csrf_field(browser.get("/").text)
            made = browser.post(
                "/api/v1/tokens",
                json={"name": "image tests", "write": True},
                headers={**referer, "X-CSRFToken": csrf},
            )
            return str(json_of(made, status=201)["token"])

    def config(self) -> Any:
        """The running document."""
        return json_of(self.api.get("/config"))

    def patch(self, document: dict[str, Any], path: str = "/config") -> Any:
        """Commit a merge patch; AssertionError with the problems when it is refused."""
        answer = self.api.patch(path, json=document, headers={"Content-Type": "application/merge-patch+json"})
        return self._committed(answer)

    def put(self, document: dict[str, Any], path: str = "/config") -> Any:
        """Commit a whole document; AssertionError with the problems when it is refused."""
        return self._committed(self.api.put(path, json=document))

    def _committed(self, answer: httpx.Response) -> Any:
        """The end of a commit, also of one that outlasts its request."""
        if answer.status_code != 202:
            return json_of(answer)
        ended = self.ended(answer.json()["request_id"])
        assert ended["state"] == "done", ended
        return ended

    def ended(self, request_id: str) -> Any:
        """How a commit ended, once it has."""

        def look() -> Any:
            answer = self.api.get(f"/commits/{request_id}")
            if answer.status_code == 503:
                return None  # too busy with the commit to say
            state = json_of(answer)
            return state if state["state"] != "running" else None

        return wait_for(look, timeout_s=COMMIT_S, what=f"the end of commit {request_id}", pause_s=2)

    def shell(self, *argv: str, timeout_s: float = 60, check: bool = True, stdin: bytes = b"") -> str:
        """Run a program in the guest over ssh as the administrator and return its output.

        AssertionError with both outputs when it fails, unless `check` is false, and when it does not end.
        """
        try:
            done = subprocess.run(
                [*self._ssh(), "--", shlex.join(argv)],
                input=stdin,
                capture_output=True,
                timeout=limit_s(timeout_s),
                env=self._ssh_environment(),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            late = f"in the guest `{shlex.join(argv)}` had not ended after {error.timeout:g} s"
            raise AssertionError(late) from None
        output, errors = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        if check and done.returncode != 0:
            said = f"{output[-4000:]}{errors[-4000:]}"
            raise AssertionError(f"in the guest `{shlex.join(argv)}` ended with {done.returncode}: {said}")
        return output

    def root(self, *argv: str, timeout_s: float = 60, check: bool = True, stdin: bytes = b"") -> str:
        """Run a program in the guest as root."""
        if not self._sudo:
            free = self.shell("sudo", "-n", "echo", "free", check=False).strip() == "free"
            self._sudo = ["sudo", "-n"] if free else ["sudo", "-S", "-p", ""]
        if "-S" in self._sudo:
            # sudo takes the first line and leaves the rest to the program.
            stdin = f"{self.credentials.password}\n".encode() + stdin
        return self.shell(*self._sudo, "--", *argv, timeout_s=timeout_s, check=check, stdin=stdin)

    def send_tree(self, source: Path, names: list[str], target: str) -> None:
        """Copy `names` below `source` into the guest's directory `target` (made anew), as root."""
        self.root("rm", "-rf", target)
        self.root("mkdir", "-p", target)
        pack = ["tar", "-C", str(source), "--exclude=__pycache__", "-czf", "-", "--", *names]
        packed = subprocess.run(pack, stdout=subprocess.PIPE, check=True, timeout=limit_s(120)).stdout
        self.root("tar", "-C", target, "-xzf", "-", stdin=packed, timeout_s=300)

    def hang_up(self) -> None:
        """End the shared ssh connection, before the machine ends or after it did."""
        run([*self._ssh(), "-O", "exit"], check=False)

    def _ssh(self) -> list[str]:
        directory = self.machine.directory
        key = self.credentials.private_key
        options = {
            "IdentitiesOnly": "yes",
            "StrictHostKeyChecking": "accept-new",
            "UserKnownHostsFile": str(directory / "known_hosts"),
            "PreferredAuthentications": "publickey" if key else "password,keyboard-interactive",
            "NumberOfPasswordPrompts": "1",
            "ConnectTimeout": f"{limit_s(60):.0f}",
            # A key exchange under emulation takes seconds: one for all commands.
            "ControlMaster": "auto",
            "ControlPath": str(directory / "ssh-%C"),
            "ControlPersist": "120",
            "ServerAliveInterval": "10",
            "ServerAliveCountMax": f"{limit_s(9):.0f}",
            "LogLevel": "ERROR",
        }
        return [
            *("ssh", "-F", "none", "-p", str(self.machine.ports[SSH])),
            *(("-i", str(key)) if key else ()),
            *(word for name, value in options.items() for word in ("-o", f"{name}={value}")),
            f"{self.credentials.username}@127.0.0.1",
        ]

    def _ssh_environment(self) -> dict[str, str]:
        """ssh asks a program of ours for the password; it never sees a terminal."""
        if self.credentials.private_key is not None:
            return dict(os.environ)
        secret, asked = self.machine.directory / "password", self.machine.directory / "askpass"
        secret.touch(mode=0o600)
        secret.write_text(self.credentials.password + "\n")
        asked.write_text(f"#!/bin/sh\nexec cat '{secret}'\n")
        asked.chmod(0o700)
        return {**os.environ, "SSH_ASKPASS": str(asked), "SSH_ASKPASS_REQUIRE": "force"}


def _csrf_field(page: str) -> str:
    _, _, rest = page.partition('name="csrfmiddlewaretoken" value="')
    return rest.partition('"')[0]
