"""Talking to nftables, inside a namespace: one transaction, one listing, the generation counter."""

from __future__ import annotations

import json
import shutil
import socket
import struct
import subprocess
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.nftables.expressions import Json

TIMEOUT_S = 20
_NETLINK_NETFILTER = 12
_GETGEN = (10 << 8) | 16
"""Subsystem nftables, message NFT_MSG_GETGEN."""
_NFTA_GEN_ID = 1
_MOST_READINGS = 5

Reading = TypeVar("Reading")


def transaction(commands: list[Json]) -> None:
    """Apply all commands or none. Raises DataPlaneError with nftables' own words."""
    if commands:
        _run(["--file", "-"], json.dumps({"nftables": commands}))


def script(text: str) -> None:
    """Apply a script in nftables' own language, all of it or none. Raises DataPlaneError."""
    if text.strip():
        _run(["--file", "-"], text, language=())


def listing(table: str) -> Json | None:
    """A table of ours, numbers as numbers; None when there is none."""
    try:
        return dict(json.loads(_run(["--numeric", "list", "table", "inet", table])))
    except DataPlaneError as error:
        if "No such file or directory" in str(error):
            return None
        raise


def generation() -> int:
    """A number that changes with every change to any rule set of the namespace (NFTA_GEN_ID)."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER) as link:
        link.settimeout(TIMEOUT_S)
        body = struct.pack("!BBH", 0, 0, 0)
        link.send(struct.pack("=IHHII", 16 + len(body), _GETGEN, 1, 1, 0) + body)
        reply = link.recv(4096)
    offset, end = 20, struct.unpack_from("=I", reply)[0]
    while offset + 4 <= end:
        length, kind = struct.unpack_from("=HH", reply, offset)
        if kind & 0x7FFF == _NFTA_GEN_ID:
            return int(struct.unpack_from("!I", reply, offset + 4)[0])
        offset += (max(length, 4) + 3) & ~3
    raise DataPlaneError("the kernel does not report the generation of its nftables rules")


class TableReader(Generic[Reading]):
    """The content of one of our tables, parsed by ``read``.

    Reading is free while the kernel's generation counter is unchanged: the earlier reading still holds.
    """

    def __init__(self, table: str, read: Callable[[Json], Reading]) -> None:
        self._table, self._read = table, read
        self._known: tuple[int, Reading | None] | None = None

    def latest(self) -> Reading | None:
        """The content, its counters as of the last change; None without a table. Raises DataPlaneError."""
        if self._known is not None and self._known[0] == generation():
            return self._known[1]
        return self.now()

    def now(self) -> Reading | None:
        """The content, read anew; None without a table. Raises DataPlaneError."""
        for _ in range(_MOST_READINGS):
            before = generation()
            listed = listing(self._table)
            if generation() == before:
                reading = self._read(listed) if listed is not None else None
                self._known = (before, reading)
                return reading
        raise DataPlaneError("the nftables rules keep changing while they are read")


def _run(arguments: list[str], text: str | None = None, language: tuple[str, ...] = ("--json",)) -> str:
    program = shutil.which("nft", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if program is None:
        raise DataPlaneError("the program nft is not installed (package nftables)")
    try:
        done: subprocess.CompletedProcess[Any] = subprocess.run(
            [program, *language, *arguments],
            input=text,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DataPlaneError(f"nft did not answer within {TIMEOUT_S} s") from None
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())
        raise DataPlaneError(f"nftables refused: {said[:400]}")
    return str(done.stdout)
