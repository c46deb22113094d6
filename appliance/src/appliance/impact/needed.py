"""Packets that something of the router lives by: a session, or the caller's own connection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from appliance.impact.result import Kind
from frr_config.types import IpAddress

TCP, UDP = 6, 17
SYN, ACK = 0x02, 0x10
EPHEMERAL_PORT = 49152
"""Stands for the port a program was given by its kernel."""


@dataclass(frozen=True, slots=True)
class Packet:
    """What filters look at."""

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
    """How something is now."""

    works: bool | None
    """None when the router does not tell."""
    evidence: str = ""


def is_new() -> Now:
    """Of what is not there yet, and is meant to work."""
    return Now(True)


@dataclass(frozen=True)
class Needed:
    """``what`` needs that one of ``ways`` gets through an interface: every packet of it."""

    what: str
    """With its article: ``the session with 192.0.2.1``."""
    path: str
    kind: Kind
    interface: str
    direction: Literal["in", "out"]
    ways: tuple[tuple[Packet, ...], ...]
    now: Callable[[], Now] = is_new
    """Whether it works; asked only when a packet is refused. What is new counts as working."""
    depends_on: str = ""
    """What else has to be so for a refused packet to be missed. Empty: nothing."""
