"""bgpd's side of BMP (RFC 7854), made by a test: messages, and a listener that an index connects to."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from types import TracebackType
from typing import Self

from tests.soak import bgp_bytes as bgp

_ROUTE_MONITORING, _PEER_DOWN, _PEER_UP, _INITIATION = 0, 2, 3, 4
_IPV6, _POST_POLICY = 0x80, 0x40
_OPTIONAL, _TRANSITIVE = 0x80, 0x40
_WELL_KNOWN, _NON_TRANSITIVE = {1, 2, 3, 5, 6}, {4, 9, 10, 14, 15}
SEQUENCE, SET = 2, 1

Segment = Sequence[int] | frozenset[int]
"""Of an AS path: a sequence, or a set."""


@dataclass(frozen=True)
class Peer:
    """A neighbor, as the per-peer header names it; without an address the router itself."""

    address: str | None
    asn: int
    bgp_id: str = "10.0.0.1"

    def header(self, *, post_policy: bool = True, at_s: int = 0) -> bytes:
        """42 bytes."""
        packed = b"" if self.address is None else ip_address(self.address).packed
        flags = (_POST_POLICY if post_policy else 0) | (_IPV6 if len(packed) == 16 else 0)
        fixed = struct.pack("!BB8s16s", 0, flags, bytes(8), packed.rjust(16, b"\0"))
        return fixed + struct.pack("!I4sII", self.asn, ip_address(self.bgp_id).packed, at_s, 0)


def message(kind: int, body: bytes) -> bytes:
    """A message of BMP."""
    return struct.pack("!BIB", 3, 6 + len(body), kind) + body


def initiation() -> bytes:
    """The first message."""
    return message(_INITIATION, struct.pack("!HH", 1, 3) + b"FRR")


def opening(
    asn: int, families: Iterable[int] = (4, 6), *, four_octets: bool = True, bgp_id: str = "10.0.0.1"
) -> bytes:
    """An OPEN that tells these families of addresses."""
    capabilities = b"".join(struct.pack("!BBHBB", 1, 4, {4: 1, 6: 2}[family], 0, 1) for family in families)
    if four_octets:
        capabilities += struct.pack("!BBI", 65, 4, asn)
    short = asn if asn < 65536 else 23456
    fixed = struct.pack("!BHH4sB", 4, short, 90, ip_address(bgp_id).packed, len(capabilities) + 2)
    return bgp.message(bgp.OPEN, fixed + bytes([2, len(capabilities)]) + capabilities)


def peer_up(peer: Peer, own_asn: int = 65000, families: Iterable[int] = (4, 6), *, at_s: int = 0) -> bytes:
    """A session came up, at this time of the clock."""
    families = tuple(families)
    opens = opening(own_asn, families) + opening(peer.asn, families)
    return message(_PEER_UP, peer.header(at_s=at_s) + bytes(20) + opens)


def peer_down(peer: Peer) -> bytes:
    """It went down, with an event of bgpd's."""
    return message(_PEER_DOWN, peer.header() + struct.pack("!BH", 2, 0))


def attribute(kind: int, value: bytes) -> bytes:
    """An attribute by its type."""
    flags = (0 if kind in _WELL_KNOWN else _OPTIONAL) | (0 if kind in _NON_TRANSITIVE else _TRANSITIVE)
    return bgp.attribute(flags, kind, value)


def as_path(*segments: Segment) -> bytes:
    """AS_PATH of numbers of four octets."""
    value = b""
    for segment in segments:
        kind, numbers = (SET, sorted(segment)) if isinstance(segment, frozenset) else (SEQUENCE, segment)
        value += struct.pack(f"!BB{len(numbers)}I", kind, len(numbers), *numbers)
    return attribute(2, value)


def communities(*pairs: tuple[int, int]) -> bytes:
    """COMMUNITIES."""
    return attribute(8, b"".join(struct.pack("!HH", *pair) for pair in pairs))


def large_communities(*triples: tuple[int, int, int]) -> bytes:
    """LARGE_COMMUNITY."""
    return attribute(32, b"".join(struct.pack("!III", *triple) for triple in triples))


def next_hop(address: str) -> bytes:
    """NEXT_HOP of IPv4."""
    return attribute(3, ip_address(address).packed)


def _nlri(prefix: str) -> bytes:
    network = ip_network(prefix)
    packed = network.network_address.packed
    return bytes([network.prefixlen]) + packed[: (network.prefixlen + 7) // 8]


def coming(prefix: str, attributes: bytes, hop: str = "") -> bytes:
    """An UPDATE of BGP with one prefix; ``hop`` is the next hop of an IPv6 one."""
    if ":" not in prefix:
        return bgp.update(b"", attributes, _nlri(prefix))
    packed = ip_address(hop).packed
    reach = struct.pack("!HBB", 2, 1, len(packed)) + packed + b"\0" + _nlri(prefix)
    return bgp.update(b"", attributes + attribute(14, reach), b"")


def going(prefix: str) -> bytes:
    """An UPDATE of BGP that withdraws one prefix."""
    if ":" not in prefix:
        return bgp.update(_nlri(prefix), b"", b"")
    return bgp.update(b"", attribute(15, struct.pack("!HB", 2, 1) + _nlri(prefix)), b"")


def announcement(peer: Peer, prefix: str, attributes: bytes, *, hop: str = "", at_s: int = 0) -> bytes:
    """A path of this neighbor."""
    return message(_ROUTE_MONITORING, peer.header(at_s=at_s) + coming(prefix, attributes, hop))


def withdrawal(peer: Peer, prefix: str) -> bytes:
    """The end of a path."""
    return message(_ROUTE_MONITORING, peer.header() + going(prefix))


def raw_update(peer: Peer, body: bytes) -> bytes:
    """Arbitrary bytes in place of an UPDATE."""
    return message(_ROUTE_MONITORING, peer.header() + body)


def end_of_rib(peer: Peer, family: int) -> bytes:
    """End of a family."""
    unreach = b"" if family == 4 else attribute(15, struct.pack("!HB", 2, 1))
    return message(_ROUTE_MONITORING, peer.header() + bgp.update(b"", unreach, b""))


class Listener:
    """bgpd's BMP listener on a free port of this machine. Enter it to listen."""

    def __init__(self) -> None:
        self._listener: socket.socket | None = None
        self._connection: socket.socket | None = None
        self.port = 0

    def __enter__(self) -> Self:
        self.listen()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def listen(self) -> None:
        """Listen again, on the same port if there was one."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]

    def close(self) -> None:
        """Stop listening and close the connection, like a crashed bgpd."""
        self.hang_up()
        if self._listener is not None:
            self._listener.close()
        self._listener = None

    def is_asked(self) -> bool:
        """Whether a client connected that was not accepted yet."""
        assert self._listener is not None
        return bool(select.select([self._listener], [], [], 0)[0])

    def accept(self) -> None:
        """Take the index's connection."""
        assert self._listener is not None
        self._listener.settimeout(10)
        self._connection, _ = self._listener.accept()

    def send(self, *messages: bytes) -> None:
        """Tell it something."""
        assert self._connection is not None
        self._connection.settimeout(60)
        self._connection.sendall(b"".join(messages))

    def hang_up(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def was_left(self, timeout_s: float = 20) -> bool:
        """Whether the index ended the connection, within that time."""
        assert self._connection is not None
        self._connection.settimeout(timeout_s)
        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            try:
                if not self._connection.recv(4096):
                    return True
            except TimeoutError:
                return False
            except ConnectionError:
                return True
        return False
