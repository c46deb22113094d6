"""Packets that some part of the router depends on: a session, or the caller's own connection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from appliance.impact.result import Kind
from frr_config.types import IpAddress

TCP, UDP = 6, 17
SYN, ACK = 0x02, 0x10
EPHEMERAL_PORT = 49152
"""Stands for a port that the kernel chose for a program."""


@dataclass(frozen=True, slots=True)
class Packet:
    """The fields that filters examine."""

    source: IpAddress
    destination: IpAddress
    protocol: int
    source_port: int = 0
    destination_port: int = 0
    tcp_flags: int = 0
    icmp_type: int = 0
    icmp_code: int = 0


@dataclass(frozen=True)
class Now:
    """The present state of something."""

    works: bool | None
    """None when the router does not answer."""
    evidence: str = ""


def is_new() -> Now:
    """For something that does not exist yet and is meant to work."""
    return Now(True)


@dataclass(frozen=True)
class Needed:
    """``what`` needs one of ``ways`` to get through an interface, with every one of its packets."""

    what: str
    """With its article: ``the session with 192.0.2.1``."""
    path: str
    kind: Kind
    interface: str
    direction: Literal["in", "out"]
    ways: tuple[tuple[Packet, ...], ...]
    now: Callable[[], Now] = is_new
    """Whether it works; asked only when a packet is refused. A new one counts as working."""
    depends_on: str = ""
    """What else has to hold for a refused packet to matter. Empty: nothing."""
