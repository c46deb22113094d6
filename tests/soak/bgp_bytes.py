"""BGP messages as a hostile neighbor sends them (RFC 4271): right in parts, wrong or extreme in the rest.

Everything comes from one ``random.Random``; nothing here opens a socket.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from ipaddress import IPv4Address

MARKER = b"\xff" * 16
OPEN, UPDATE, NOTIFICATION, KEEPALIVE, ROUTE_REFRESH = 1, 2, 3, 4, 5
LARGEST = 4096

_OPTIONAL, _TRANSITIVE, _PARTIAL, _EXTENDED = 0x80, 0x40, 0x20, 0x10
_ORIGIN, _AS_PATH, _NEXT_HOP, _MED, _COMMUNITIES, _MP_REACH, _MP_UNREACH = 1, 2, 3, 4, 8, 14, 15
_EXTENDED_COMMUNITIES, _AS4_PATH, _LARGE_COMMUNITIES = 16, 17, 32


def message(kind: int, body: bytes = b"", length: int | None = None) -> bytes:
    """A message; ``length`` lies about it."""
    return MARKER + struct.pack("!HB", 19 + len(body) if length is None else length, kind) + body


def opening(asn: int, router_id: str, hostname: bytes = b"", hold_s: int = 90) -> bytes:
    """An OPEN with IPv4 unicast, four-octet AS numbers, route refresh and, given a name, FQDN (code 73)."""
    capabilities = _tlv(1, struct.pack("!HBB", 1, 0, 1)) + _tlv(65, struct.pack("!I", asn)) + _tlv(2, b"")
    if hostname:
        capabilities += _tlv(73, bytes([len(hostname)]) + hostname + bytes([len(hostname)]) + hostname)
    parameters = _tlv(2, capabilities)
    short = asn if asn < 65536 else 23456
    fixed = struct.pack("!BHH4sB", 4, short, hold_s, IPv4Address(router_id).packed, len(parameters))
    return message(OPEN, fixed + parameters)


def shutdown(text: bytes) -> bytes:
    """An administrative shutdown with a message (RFC 9003)."""
    return message(NOTIFICATION, bytes([6, 2, len(text)]) + text)


def _tlv(kind: int, value: bytes) -> bytes:
    return bytes([kind, len(value)]) + value


def attribute(flags: int, kind: int, value: bytes, length: int | None = None) -> bytes:
    """A path attribute; ``length`` lies about it."""
    size = len(value) if length is None else length
    if size > 255 or flags & _EXTENDED:
        return struct.pack("!BBH", flags | _EXTENDED, kind, size & 0xFFFF) + value
    return bytes([flags, kind, size]) + value


def update(withdrawn: bytes, attributes: bytes, nlri: bytes, attributes_length: int | None = None) -> bytes:
    """An UPDATE of its three parts."""
    length = len(attributes) if attributes_length is None else attributes_length
    body = struct.pack("!H", len(withdrawn)) + withdrawn + struct.pack("!H", length & 0xFFFF) + attributes
    return message(UPDATE, body + nlri)


def prefix(rng: random.Random) -> bytes:
    """A prefix of the range for tests that nobody else in the lab announces."""
    length = rng.randint(17, 32)
    return (
        bytes([length])
        + bytes([100, rng.randint(64, 127), rng.randrange(256), rng.randrange(256)])[: (length + 7) // 8]
    )


class Hostile:
    """Messages of one session from AS ``asn``, whose next hop is ``address``."""

    def __init__(self, rng: random.Random, asn: int, address: str) -> None:
        self._rng, self._asn, self._next_hop = rng, asn, IPv4Address(address).packed
        self._kinds: tuple[Callable[[], list[bytes]], ...] = (
            self._plain,
            self._flap,
            self._withdrawals,
            self._long_path,
            self._many_communities,
            self._unknown_attributes,
            self._bad_lengths,
            self._bad_prefixes,
            self._bad_next_hop,
            self._odd_paths,
            self._twice_or_missing,
            self._multiprotocol,
            self._refresh,
            self._flipped,
            self._bad_header,
        )

    def messages(self) -> tuple[str, list[bytes]]:
        """What is sent next: its kind, and the bytes."""
        make = self._rng.choice(self._kinds)
        return make.__name__.strip("_"), make()

    def _mandatory(self, path: bytes | None = None) -> bytes:
        own = struct.pack("!BBI", 2, 1, self._asn)
        return (
            attribute(_TRANSITIVE, _ORIGIN, b"\x00")
            + attribute(_TRANSITIVE, _AS_PATH, own if path is None else path)
            + attribute(_TRANSITIVE, _NEXT_HOP, self._next_hop)
        )

    def _prefixes(self, most: int) -> bytes:
        return b"".join(prefix(self._rng) for _ in range(self._rng.randint(1, most)))

    def _plain(self) -> list[bytes]:
        return [update(b"", self._mandatory(), self._prefixes(400))]

    def _flap(self) -> list[bytes]:
        found = self._prefixes(200)
        return [update(b"", self._mandatory(), found), update(found, b"", b"")] * self._rng.randint(2, 20)

    def _withdrawals(self) -> list[bytes]:
        return [update(self._prefixes(700), b"", b"") for _ in range(self._rng.randint(1, 10))]

    def _long_path(self) -> list[bytes]:
        hops = self._rng.randint(200, 900)
        path, numbers = b"", [self._asn, *(self._rng.randint(1, 2**32 - 1) for _ in range(hops))]
        while numbers:
            segment, numbers = numbers[:255], numbers[255:]
            path += struct.pack(f"!BB{len(segment)}I", self._rng.choice([1, 2]), len(segment), *segment)
        return [update(b"", self._mandatory(path), self._prefixes(5))]

    def _many_communities(self) -> list[bytes]:
        kind, size = self._rng.choice(
            [(_COMMUNITIES, 4), (_EXTENDED_COMMUNITIES, 8), (_LARGE_COMMUNITIES, 12)]
        )
        value = self._rng.randbytes(size * (3800 // size) + self._rng.choice([0, 0, 1]))
        extra = attribute(_OPTIONAL | _TRANSITIVE, kind, value)
        return [update(b"", self._mandatory() + extra, self._prefixes(5))]

    def _unknown_attributes(self) -> list[bytes]:
        extra = b"".join(
            attribute(
                self._rng.choice(
                    [_OPTIONAL, _OPTIONAL | _TRANSITIVE, _OPTIONAL | _TRANSITIVE | _PARTIAL, 0x4F]
                ),
                self._rng.randint(41, 255),
                self._rng.randbytes(self._rng.choice([0, 1, 7, 255, 256, 900])),
            )
            for _ in range(self._rng.randint(1, 3))
        )
        return [update(b"", self._mandatory() + extra, self._prefixes(20))]

    def _bad_lengths(self) -> list[bytes]:
        known = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16, 17, 18, 32, 40, 128]
        value = self._rng.randbytes(self._rng.randint(0, 30))
        lie = self._rng.choice([0, 1, len(value) + 1, 255, 4000, 65535])
        flags = self._rng.choice([_OPTIONAL, _TRANSITIVE, _OPTIONAL | _TRANSITIVE, 0, 0xFF])
        extra = attribute(flags, self._rng.choice(known), value, lie)
        total = self._rng.choice([None, 0, 1, 4096, 65535])
        return [update(b"", self._mandatory() + extra, self._prefixes(5), total)]

    def _bad_prefixes(self) -> list[bytes]:
        bad = bytes([self._rng.randint(33, 255)]) + self._rng.randbytes(self._rng.randint(0, 40))
        martian = bytes([self._rng.choice([0, 4, 8, 32]), *self._rng.choice([(127,), (224,), (0,), (255,)])])
        chosen = self._rng.choice([bad, martian, martian + bytes(3), self._prefixes(3)[:-1]])
        where = self._rng.random() < 0.5
        return [update(chosen if where else b"", self._mandatory(), b"" if where else chosen)]

    def _bad_next_hop(self) -> list[bytes]:
        hop = self._rng.choice([bytes(4), b"\xff" * 4, b"\x7f\0\0\1", b"\xe0\0\0\1", b"\x0a\x0a\0\1", b"\1"])
        attributes = (
            attribute(_TRANSITIVE, _ORIGIN, b"\x00")
            + attribute(_TRANSITIVE, _AS_PATH, struct.pack("!BBI", 2, 1, self._asn))
            + attribute(_TRANSITIVE, _NEXT_HOP, hop)
        )
        return [update(b"", attributes, self._prefixes(5))]

    def _odd_paths(self) -> list[bytes]:
        path = self._rng.choice(
            [
                b"",
                struct.pack("!BB", 2, 0),
                struct.pack("!BBI", 2, 255, self._asn),
                struct.pack("!BBI", 3, 1, self._asn),
                struct.pack("!BBII", 2, 2, self._asn, 0),
                struct.pack("!BBII", 2, 2, self._asn, 65000),
                struct.pack("!BBI", self._rng.randint(5, 255), 1, self._asn),
            ]
        )
        extra = attribute(_OPTIONAL | _TRANSITIVE, _AS4_PATH, self._rng.randbytes(self._rng.randint(0, 40)))
        return [update(b"", self._mandatory(path) + extra, self._prefixes(5))]

    def _twice_or_missing(self) -> list[bytes]:
        parts = [
            attribute(_TRANSITIVE, _ORIGIN, bytes([self._rng.randint(0, 5)])),
            attribute(_TRANSITIVE, _AS_PATH, struct.pack("!BBI", 2, 1, self._asn)),
            attribute(_TRANSITIVE, _NEXT_HOP, self._next_hop),
            attribute(_OPTIONAL, _MED, self._rng.randbytes(4)),
        ]
        chosen = self._rng.choices(parts, k=self._rng.randint(0, 8))
        return [update(b"", b"".join(chosen), self._prefixes(5))]

    def _multiprotocol(self) -> list[bytes]:
        family = struct.pack(
            "!HB", self._rng.choice([0, 1, 2, 25, 16388, 65535]), self._rng.choice([1, 2, 4, 128])
        )
        hop = self._rng.randbytes(self._rng.choice([0, 4, 16, 32, 255]))
        reach = family + bytes([self._rng.choice([len(hop), 255, 0])]) + hop + b"\0"
        reach += self._rng.randbytes(self._rng.randint(0, 60))
        kind = self._rng.choice([_MP_REACH, _MP_UNREACH])
        return [update(b"", self._mandatory() + attribute(_OPTIONAL, kind, reach), b"")]

    def _refresh(self) -> list[bytes]:
        body = struct.pack("!HBB", self._rng.choice([1, 2, 99]), self._rng.randint(0, 3), 1)
        return [message(ROUTE_REFRESH, body + self._rng.randbytes(self._rng.choice([0, 0, 3, 50])))] * 20

    def _flipped(self) -> list[bytes]:
        data = bytearray(update(self._prefixes(3), self._mandatory(), self._prefixes(30)))
        for _ in range(self._rng.randint(1, 8)):
            data[self._rng.randrange(19, len(data))] ^= 1 << self._rng.randrange(8)
        return [bytes(data)]

    def _bad_header(self) -> list[bytes]:
        return [
            self._rng.choice(
                [
                    message(UPDATE, b"", self._rng.choice([0, 18, 22, LARGEST + 1, 65535])),
                    message(self._rng.choice([0, 6, 77, 255]), self._rng.randbytes(20)),
                    self._rng.randbytes(64),
                    message(KEEPALIVE, b"x"),
                    message(OPEN, self._rng.randbytes(self._rng.randint(0, 60))),
                    opening(self._asn, "10.10.0.66", hold_s=self._rng.choice([1, 2])),
                    shutdown(self._rng.randbytes(self._rng.randint(0, 128))),
                ]
            )
        ]
