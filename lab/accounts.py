"""The unprivileged account that runs the lab's web half and databases."""

import os
import pwd
import sys
from dataclasses import dataclass
from pathlib import Path

from lab.command import run
from lab.errors import CommandFailed
from lab.layout import REPOSITORY


@dataclass(frozen=True)
class Account:
    """A login of this machine."""

    name: str
    uid: int
    gid: int

    @classmethod
    def of(cls, uid: int) -> "Account":
        """The login with this number. Raises KeyError where there is none."""
        entry = pwd.getpwuid(uid)
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)


def invoking() -> Account:
    """The user who ran the command: the user behind sudo, otherwise root."""
    return Account.of(int(os.environ.get("SUDO_UID", "0")))


def unprivileged() -> Account:
    """The user behind sudo; `nobody` where root itself ran the command."""
    account = invoking()
    return account if account.uid != 0 else Account.of(pwd.getpwnam("nobody").pw_uid)


def can_run_the_code(account: Account) -> str | None:
    """None when `account` can import the web half, otherwise the reason in one line."""
    for directory in (*reversed(REPOSITORY.parents), REPOSITORY):
        if can_reach(account, directory) is not None:
            return f"{directory} is closed to user {account.name}"
    probe = [sys.executable, "-c", "import django, uvicorn, appliance.client, webui"]
    return _refusal(account, probe, f"{REPOSITORY} or its Python")


def can_reach(account: Account, path: Path) -> str | None:
    """None when `account` can traverse to `path`, otherwise the reason."""
    return _refusal(account, ["test", "-x", str(path)], str(path))


def own(path: Path, account: Account) -> None:
    """Give an existing directory and its content to `account`."""
    run(["chown", "-R", "-h", f"{account.uid}:{account.gid}", "--", str(path)])


def as_account(account: Account, argv: list[str]) -> list[str]:
    """The argument vector that runs `argv` as `account`."""
    if account.uid == os.getuid():
        return argv
    change = [
        "setpriv",
        f"--reuid={account.uid}",
        f"--regid={account.gid}",
        "--clear-groups",
        "--inh-caps=-all",
    ]
    return [*change, "--", *argv]


def _refusal(account: Account, probe: list[str], what: str) -> str | None:
    try:
        run(as_account(account, probe))
    except CommandFailed as error:
        reason = (error.output.splitlines() or ["no access"])[-1]
        return f"user {account.name} cannot use {what}: {reason}"
    return None
