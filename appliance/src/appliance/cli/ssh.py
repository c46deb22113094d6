"""The address from which this session came over ssh; None on the router's own console."""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path

_MOST_ANCESTORS = 20
_VARIABLE = "SSH_CONNECTION"


def caller_address(
    environment: Mapping[str, str] = os.environ, pid: int | None = None, proc: Path = Path("/proc")
) -> str | None:
    """The client's address in SSH_CONNECTION of this process or of an ancestor: sudo removes the variable."""
    found = _client(environment.get(_VARIABLE, ""))
    known = os.getpid() if pid is None else pid
    for _ in range(_MOST_ANCESTORS):
        if found is not None or known <= 1:
            break
        try:
            known = int((proc / str(known) / "stat").read_text().rpartition(")")[2].split()[1])
            found = _client(_of(proc / str(known) / "environ"))
        except (OSError, ValueError, IndexError):
            break
    return found


def _of(environment: Path) -> str:
    for entry in environment.read_bytes().split(b"\0"):
        name, _, value = entry.partition(b"=")
        if name == _VARIABLE.encode():
            return value.decode(errors="replace")
    return ""


def _client(connection: str) -> str | None:
    """``client port server port`` as sshd writes it."""
    address = connection.partition(" ")[0].partition("%")[0]
    try:
        return str(ip_address(address))
    except ValueError:
        return None
