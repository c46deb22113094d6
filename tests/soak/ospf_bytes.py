"""OSPFv2 packets as a hostile neighbor sends them (RFC 2328): floods, lies about lengths, wrong sums.

No LSA is forged in the name of another router of the lab but the router's own: without authentication that
works against any implementation, and says nothing about this one.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from ipaddress import IPv4Address

HELLO, DESCRIPTION, REQUEST, UPDATE, ACKNOWLEDGE = 1, 2, 3, 4, 5
ALL_ROUTERS = "224.0.0.5"
_MAC = bytes.fromhex("01005e000005")
_EXTERNAL, _ROUTER, _MAX_AGE = 5, 1, 3600
_LSA_HEADER = struct.Struct("!HBBIIIHH")


def internet_checksum(data: bytes) -> int:
    """RFC 1071."""
    data += b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def fletcher(lsa: bytes) -> int:
    """The checksum of an LSA (RFC 905, annex B): its age is left out, its checksum field is zero."""
    data, first, second = lsa[2:], 0, 0
    for byte in data:
        first = (first + byte) % 255
        second = (second + first) % 255
    place = 14  # of the field, within what is summed
    high = ((len(data) - place - 1) * first - second) % 255 or 255
    low = (510 - first - high) % 255 or 255
    return high << 8 | low


def lsa(kind: int, link: int, router: int, body: bytes, *, age: int = 1, sequence: int = 0x80000001) -> bytes:
    """An LSA with a right checksum."""
    length = _LSA_HEADER.size + len(body)
    head = _LSA_HEADER.pack(age & 0xFFFF, 2, kind, link, router, sequence, 0, length)
    return (
        _LSA_HEADER.pack(age & 0xFFFF, 2, kind, link, router, sequence, fletcher(head + body), length) + body
    )


def packet(kind: int, router: int, body: bytes, *, length: int | None = None, version: int = 2) -> bytes:
    """An OSPF packet of area 0 without authentication; ``length`` lies about it."""
    size = 24 + len(body) if length is None else length
    head = struct.pack("!BBHII", version, kind, size & 0xFFFF, router, 0)
    checksum = internet_checksum(head + struct.pack("!HH", 0, 0) + body)
    return head + struct.pack("!HH", checksum, 0) + bytes(8) + body


def frame(source_mac: bytes, source: str, payload: bytes, destination: str = ALL_ROUTERS) -> bytes:
    """An Ethernet frame to all OSPF routers of the link."""
    head = struct.pack("!BBHHHBBH", 0x45, 0xC0, 20 + len(payload), 0, 0, 1, 89, 0)
    addresses = IPv4Address(source).packed + IPv4Address(destination).packed
    checksum = struct.pack("!H", internet_checksum(head + addresses))
    return _MAC + source_mac + b"\x08\x00" + head[:10] + checksum + addresses + payload


class Hostile:
    """Packets of the neighbor ``router_id``; ``victim`` is the router's own id."""

    def __init__(self, rng: random.Random, router_id: str, victim: str) -> None:
        self._rng, self._router, self._victim = rng, int(IPv4Address(router_id)), int(IPv4Address(victim))
        self._kinds: tuple[Callable[[], bytes], ...] = (
            self._flood,
            self._flood,
            self._aged,
            self._unknown_types,
            self._bad_checksum,
            self._lying_count,
            self._lying_lengths,
            self._strange_router,
            self._own_of_the_victim,
            self._hello,
            self._description,
            self._request,
            self._garbage,
        )

    def packet(self) -> tuple[str, bytes]:
        """What is sent next: its kind, and the OSPF packet."""
        make = self._rng.choice(self._kinds)
        return make.__name__.strip("_"), make()

    def _u32(self) -> int:
        return self._rng.getrandbits(32)

    def _prefix(self) -> int:
        return int(IPv4Address("100.64.0.0")) + (self._rng.getrandbits(14) << 8)

    def _external(self, **changes: int) -> bytes:
        body = struct.pack("!IIII", 0xFFFFFF00, 0x80000000 | self._rng.getrandbits(24), 0, self._u32())
        router = changes.pop("router", self._router)
        return lsa(_EXTERNAL, self._prefix(), router, body, **changes)

    def _update(self, lsas: list[bytes], count: int | None = None) -> bytes:
        body = struct.pack("!I", len(lsas) if count is None else count) + b"".join(lsas)
        return packet(UPDATE, self._router, body)

    def _flood(self) -> bytes:
        router = self._rng.choice([self._router, self._u32()])
        sequence = self._rng.choice([0x80000001, 0x80000000 + self._rng.randint(2, 1000), 0x7FFFFFFF])
        return self._update([self._external(router=router, sequence=sequence) for _ in range(36)])

    def _aged(self) -> bytes:
        ages = (_MAX_AGE, _MAX_AGE + 1, 0x7FFF, 0x8000, 0xFFFF)
        return self._update([self._external(age=self._rng.choice(ages)) for _ in range(20)])

    def _unknown_types(self) -> bytes:
        return self._update(
            [
                lsa(
                    self._rng.choice([0, 6, 8, 9, 10, 11, 12, 255]),
                    self._u32(),
                    self._router,
                    self._rng.randbytes(self._rng.randint(0, 200)),
                )
                for _ in range(self._rng.randint(1, 5))
            ]
        )

    def _bad_checksum(self) -> bytes:
        if self._rng.random() < 0.5:
            spoiled = bytearray(self._external())
            spoiled[16] ^= 0x55
            return self._update([bytes(spoiled)])
        whole = bytearray(self._flood())
        whole[12] ^= 0x55
        return bytes(whole)

    def _lying_count(self) -> bytes:
        return self._update([self._external()], self._rng.choice([0, 2, 1000, 0xFFFFFFFF]))

    def _lying_lengths(self) -> bytes:
        spoiled = bytearray(self._external())
        spoiled[18:20] = struct.pack("!H", self._rng.choice([0, 1, 19, 20, 21, 37, 1000, 65535]))
        body = struct.pack("!I", 1) + bytes(spoiled)
        length = self._rng.choice([None, 0, 23, 24, 40, 2000, 65535])
        return packet(UPDATE, self._router, body, length=length)

    def _strange_router(self) -> bytes:
        links = self._rng.choice([0, 1, 1000, 65535])
        body = struct.pack("!BBH", self._rng.randrange(256), 0, links)
        body += self._rng.randbytes(12 * self._rng.randint(0, 20))
        return self._update([lsa(_ROUTER, self._router, self._router, body, sequence=self._u32())])

    def _own_of_the_victim(self) -> bytes:
        body = struct.pack("!BBH", 0, 0, 0)
        sequence = 0x80000000 + self._rng.randint(1, 5000)
        return self._update([lsa(_ROUTER, self._victim, self._victim, body, sequence=sequence)])

    def _hello(self) -> bytes:
        neighbors = self._rng.randbytes(4 * self._rng.randint(0, 300))
        body = struct.pack(
            "!IHBBIII",
            self._u32(),
            self._rng.choice([0, 5, 65535]),
            self._rng.randrange(256),
            self._rng.randrange(256),
            self._rng.choice([0, 20, 0xFFFFFFFF]),
            self._u32(),
            self._u32(),
        )
        return packet(HELLO, self._rng.choice([self._u32(), self._victim, 0]), body + neighbors)

    def _description(self) -> bytes:
        body = struct.pack(
            "!HBBI", self._rng.choice([0, 68, 1500, 65535]), 2, self._rng.randrange(8), self._u32()
        )
        return packet(DESCRIPTION, self._u32(), body + self._rng.randbytes(self._rng.randint(0, 200)))

    def _request(self) -> bytes:
        kind = self._rng.choice([REQUEST, ACKNOWLEDGE])
        return packet(kind, self._router, self._rng.randbytes(self._rng.randint(0, 240)))

    def _garbage(self) -> bytes:
        body = self._rng.randbytes(self._rng.randint(0, 900))
        return packet(
            self._rng.randrange(256), self._router, body, version=self._rng.choice([0, 2, 2, 3, 255])
        )
