"""The flows between a lab's hosts, and what is counted of each."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Literal

from lab import addressing as at

Host = Literal["lan", "wan", "core"]
Family = Literal["IPv4", "IPv6"]
Protocol = Literal["udp", "icmp", "tcp", "connect", "forward"]
ADDRESSES: dict[tuple[Host, Family], str] = {
    ("lan", "IPv4"): str(at.LAN.far_v4.ip),
    ("lan", "IPv6"): str(at.LAN.far_v6.ip),
    ("wan", "IPv4"): str(at.WAN_HOST.far_v4.ip),
    ("wan", "IPv6"): str(at.WAN_HOST.far_v6.ip),
    ("core", "IPv4"): str(at.CORE_HOST.far_v4.ip),
    ("core", "IPv6"): str(at.CORE_HOST.far_v6.ip),
}
PORT, FORWARDED_PORT = 7200, 7300
SIZES = (64, 512, 1400, 1500)
"""Bytes of the IP packet."""
_BEGUN: tuple[Protocol, ...] = ("icmp", "tcp", "connect")


@dataclass(frozen=True)
class Flow:
    """A class of packets, or of connections, from a host to another."""

    protocol: Protocol
    family: Family
    source: Host
    target: Host
    size_bytes: int

    def __str__(self) -> str:
        return f"{self.protocol} {self.family} {self.source}->{self.target} {self.size_bytes}"

    @property
    def both_ways(self) -> bool:
        """Whether it needs answers, too."""
        return self.protocol not in ("udp", "forward")


FORWARDS: dict[Host, tuple[Host, str]] = {
    "wan": ("lan", str(at.WAN.near_v4.ip)),
    "lan": ("wan", str(at.LAN.near_v4.ip)),
}
"""By the host that sends to a port of the router's own address there: whom a port forward leads to."""


def flows(outside: Host) -> tuple[Flow, ...]:
    """All that is measured. ``forward`` is UDP to a port of the router's own address on this side."""
    hosts: tuple[Host, ...] = ("lan", "wan", "core")
    pairs = [(one, other) for one in hosts for other in hosts if one != other]
    families: tuple[Family, ...] = ("IPv4", "IPv6")
    found = [Flow("udp", family, *pair, size) for pair in pairs for family in families for size in SIZES]
    begun: list[tuple[Host, Host]] = [("lan", "wan"), ("lan", "core"), ("core", "wan")]
    for pair in begun:
        for family in families:
            found += [Flow("icmp", family, *pair, size) for size in (64, 1500)]
            found += [Flow("tcp", family, *pair, 1400), Flow("connect", family, *pair, 64)]
    # Begun at the other end, which NAT tells apart.
    found += [Flow(protocol, "IPv4", "wan", "lan", 1400) for protocol in _BEGUN]
    return (*found, Flow("forward", "IPv4", outside, FORWARDS[outside][0], 512))


@dataclass
class Counted:
    """What became of the packets, or connections, of a flow."""

    sent: list[float] = field(default_factory=list)
    """When each was sent, by the monotonic clock."""
    arrived: list[bool] = field(default_factory=list)
    resets: int = 0
    """Long connections that were ended, or stood still."""

    def between(self, begin_s: float, end_s: float) -> tuple[int, int]:
        """Sent, and of those lost."""
        seen = [got for sent_s, got in zip(self.sent, self.arrived, strict=True) if begin_s <= sent_s < end_s]
        return len(seen), seen.count(False)


def echo_request(flow: Flow, identity: int, number: int) -> bytes:
    """An ICMP echo request with a number in it; of ICMPv6 the kernel adds the checksum."""
    kind, head = (8, 20) if flow.family == "IPv4" else (128, 40)
    words = struct.pack("!BBHHHI", kind, 0, 0, identity, number & 0xFFFF, number)
    body = words.ljust(flow.size_bytes - head, b".")
    if flow.family == "IPv6":
        return body
    total = sum(struct.unpack(f"!{len(body) // 2}H", body))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    return body[:2] + struct.pack("!H", ~total & 0xFFFF) + body[4:]
