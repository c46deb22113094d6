"""zebra's side of FPM, as frames made by a test: the layout of FRR's module dplane_fpm_nl."""

from __future__ import annotations

import array
import fcntl
import socket
import struct
import termios
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network

_NEWROUTE, _DELROUTE, _NEWNEXTHOP, _DELNEXTHOP = 24, 25, 104, 105
_BGP = 186
_MAIN = 254
UNICAST, BLACKHOLE, UNREACHABLE, PROHIBIT = 1, 6, 7, 8


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def _message(kind: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body


def frame(*messages: bytes) -> bytes:
    """One frame; a change by zebra 8.4 is a withdrawal and a route in one frame."""
    payload = b"".join(messages)
    return struct.pack(">BBH", 1, 1, 4 + len(payload)) + payload


def _route(kind: int, prefix: Network, rtype: int, table: int, attributes: bytes) -> bytes:
    family = 2 if prefix.version == 4 else 10
    body = struct.pack("=BBBBBBBBI", family, prefix.prefixlen, 0, 0, min(table, 255), _BGP, 0, rtype, 0)
    if table > 255:
        body = body[:4] + b"\0" + body[5:]
        attributes += _attribute(15, struct.pack("=I", table))
    return _message(kind, body + _attribute(1, prefix.network_address.packed) + attributes)


def route(prefix: str, group: int, *, table: int = _MAIN) -> bytes:
    """A route to next-hop object ``group``."""
    return _route(_NEWROUTE, ip_network(prefix), UNICAST, table, _attribute(30, struct.pack("=I", group)))


def special(prefix: str, rtype: int) -> bytes:
    """A blackhole, unreachable or prohibit route."""
    return _route(_NEWROUTE, ip_network(prefix), rtype, _MAIN, b"")


def withdraw(prefix: str, *, table: int = _MAIN) -> bytes:
    """The withdrawal of a route."""
    return _route(_DELROUTE, ip_network(prefix), 0, table, b"")


def next_hop(identifier: int, address: str | None, ifindex: int) -> bytes:
    """A next-hop object; without an address the destination is on the link."""
    body = struct.pack("=BBBBI", 0, 0, _BGP, 0, 0) + _attribute(1, struct.pack("=I", identifier))
    if address is not None:
        body += _attribute(6, ip_address(address).packed)
    return _message(_NEWNEXTHOP, body + _attribute(5, struct.pack("=I", ifindex)))


def next_hop_gone(identifier: int) -> bytes:
    """The removal of a next-hop object."""
    body = struct.pack("=BBBBI", 0, 0, _BGP, 0, 0) + _attribute(1, struct.pack("=I", identifier))
    return _message(_DELNEXTHOP, body)


def group(identifier: int, members: Sequence[tuple[int, int]]) -> bytes:
    """A next-hop group of (object, weight)."""
    entries = b"".join(struct.pack("=IBBH", member, weight - 1, 0, 0) for member, weight in members)
    body = struct.pack("=BBBBI", 0, 0, _BGP, 0, 0) + _attribute(1, struct.pack("=I", identifier))
    return _message(_NEWNEXTHOP, body + _attribute(2, entries))


def many_ipv4(count: int, group: int, *, kind: int = _NEWROUTE, first: int = 16 << 24) -> bytes:
    """``count`` frames of /24 routes from ``first`` on, made quickly."""
    head = struct.pack(">BBH", 1, 1, 4 + 44)
    netlink = struct.pack("=IHHII", 44, kind, 0, 0, 0)
    body = struct.pack("=BBBBBBBBI", 2, 24, 0, 0, _MAIN, _BGP, 0, UNICAST, 0)
    before = head + netlink + body + struct.pack("=HH", 8, 1)
    after = struct.pack("=HHI", 8, 30, group)
    pack = struct.Struct(">I").pack
    return b"".join(before + pack(first + (at << 8)) + after for at in range(count))


def many_ipv4_withdrawn(count: int, *, first: int = 16 << 24) -> bytes:
    """The withdrawal of what ``many_ipv4`` made."""
    return many_ipv4(count, 0, kind=_DELROUTE, first=first)


def many_ipv6(count: int, group: int) -> bytes:
    """``count`` frames of /48 routes."""
    head = struct.pack(">BBH", 1, 1, 4 + 56)
    netlink = struct.pack("=IHHII", 56, _NEWROUTE, 0, 0, 0)
    body = struct.pack("=BBBBBBBBI", 10, 48, 0, 0, _MAIN, _BGP, 0, UNICAST, 0)
    before = head + netlink + body + struct.pack("=HH", 20, 1) + b"\x2a\x00"
    after = b"\0" * 10 + struct.pack("=HHI", 8, 30, group)
    pack = struct.Struct(">I").pack
    return b"".join(before + pack(at << 4) + after for at in range(count))


class Zebra:
    """A connection to the feeder, as zebra's."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def send(self, frames: bytes | Iterable[bytes]) -> None:
        """Send frames."""
        self.connection.sendall(frames if isinstance(frames, bytes) else b"".join(frames))

    def all_arrived(self) -> bool:
        """Whether the feeder's socket has everything that was sent: on a busy machine it may still be on
        its way.
        """
        if self.connection.fileno() < 0:
            return True
        unsent = array.array("i", [0])
        fcntl.ioctl(self.connection, termios.TIOCOUTQ, unsent)
        return unsent[0] == 0

    def close(self) -> None:
        """Disconnect, like a killed zebra."""
        self.connection.close()
