"""What the router itself answers, as features declare it in ``control_plane.py``.

A feature declares ``SERVICES``: for each, which packets are its own, and what those have to be like that are
let in. Its ``opens(config)`` yields who may send them, by the document or one of its views. The rules of the
control plane, what is read back of them, the words of a plan and of the page, and checks that ask for ports
of the router follow from both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from appliance.config.document import RouterConfig
from appliance.features.registry import declared

Family = Literal["ipv4", "ipv6"]
MANAGEMENT = {"ssh": 22, "https": 443}
"""TCP ports of the management services, which interfaces open by name."""
_TRANSPORTS = ("tcp", "ip", "udp")
_WORD = re.compile(r"[a-z0-9]+")
_TAKEN = {
    *("input", "protect", "echo", "icmp", "traceroute", "management", "tcp", "udp", "other"),
    *("guarded", "links", "accepted", "dropped", "rate"),
}
"""Chains, reasons and kinds of sets that every router has."""


@dataclass(frozen=True)
class Ports:
    """Packets to ports of the router."""

    transport: Literal["tcp", "udp"]
    ports: tuple[int, ...]
    answers: bool = False
    """The router also asks others at these ports, and what comes from there is of the service. Of TCP this is
    only segments with ACK or RST, which open no connection."""


@dataclass(frozen=True)
class Protocols:
    """Packets of IP protocols, by IANA's numbers."""

    numbers: tuple[int, ...]
    family: Family | None = None
    """None: of both."""


@dataclass(frozen=True)
class Only:
    """What packets of a service have to be like to be let in: all that is said, and nothing else is asked."""

    packets: Ports | Protocols | None = None
    """Which of them, where the service has several."""
    family: Family | None = None
    ttl: int | None = None
    """TTL, or hop limit. A packet that comes in with 255 was sent on the link."""
    least_ttl: int | None = None


@dataclass(frozen=True)
class Form:
    """A way to be let in that a source of packets can have: those that are as one of ``accepted``."""

    accepted: tuple[Only, ...] = (Only(),)
    words: str = ""
    """What it is called in place of the service; empty: as the service."""
    detail: str = ""
    """What a plan says behind the source: ``over several hops``."""


@dataclass(frozen=True, eq=False)
class Service:
    """Packets of one kind for the router itself."""

    reason: str
    """Name of its chain, its sets and its counts: small letters and digits."""
    words: str
    """What people call it, as in a title."""
    packets: tuple[Ports | Protocols, ...]
    """All of them: what is not let in of these is dropped for this reason."""
    forms: Mapping[str, Form] = field(default_factory=dict)
    """Ways in which sources can be let in, by name; empty where none is."""
    links: tuple[Only, ...] = ()
    """What is let in from everybody on an interface that is open to it; empty where none can be."""


@dataclass(frozen=True, order=True)
class Peer:
    """Who may use a service: an address, or a range of them, as a prefix."""

    reason: str
    prefix: str
    form: str
    """Key of the service's ``forms``."""

    @property
    def source(self) -> str:
        """The address where it is one, else the prefix."""
        address, _, length = self.prefix.partition("/")
        return address if length == ("128" if ":" in address else "32") else self.prefix


@dataclass(frozen=True, order=True)
class OpenLink:
    """An interface on which everybody may use a service."""

    reason: str
    interface: str


@dataclass(frozen=True, order=True)
class Guarded:
    """An interface by which packets come in, and of which nothing is let in that is not opened."""

    interface: str


@dataclass(frozen=True, order=True)
class Opening:
    """A management service that an interface lets in."""

    interface: str
    service: str
    source: str = ""
    """Prefix it is open to; empty: any."""


Opened = Peer | OpenLink | Guarded | Opening


def opened(config: RouterConfig) -> Iterator[Opened]:
    """What the features open, by the document or one of its views. Raises ValueError where no service is
    declared that can be opened so.
    """
    for opens in declared("control_plane", "opens"):
        for one in opens(config):
            if not _can_be(one):
                raise ValueError(f"no service is declared that can be opened as {one}")
            yield one


def _can_be(one: Opened) -> bool:
    if not isinstance(one, Peer | OpenLink):
        return True
    service = services().get(one.reason)
    if service is None:
        return False
    return bool(service.links) if isinstance(one, OpenLink) else one.form in service.forms


@cache
def services() -> Mapping[str, Service]:
    """What the features declare, by reason: services of TCP, then of other protocols, then of UDP.

    So the rules do not depend on the order of the features. Raises ValueError for a reason that is declared
    twice or that every router has, and for a name that is no plain word.
    """
    found: dict[str, Service] = {}
    every = (service for declaration in declared("control_plane", "SERVICES") for service in declaration)
    for service in sorted(every, key=_place):
        if service.reason in found or service.reason in _TAKEN:
            raise ValueError(f"the reason {service.reason} is taken: give the service another one")
        if wrong := [word for word in (service.reason, *service.forms) if not _WORD.fullmatch(word)]:
            raise ValueError(f"no small letters and digits alone: {', '.join(wrong)}")
        found[service.reason] = service
    return found


def _place(service: Service) -> tuple[int, str]:
    first = service.packets[0]
    return _TRANSPORTS.index(first.transport if isinstance(first, Ports) else "ip"), service.reason


def service_at(transport: str, port: int) -> Service | None:
    """The service that packets to this port of the router belong to."""
    for service in services().values():
        for packets in service.packets:
            if isinstance(packets, Ports) and packets.transport == transport and port in packets.ports:
                return service
    return None
