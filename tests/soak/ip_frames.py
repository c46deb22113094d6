"""IP packets that no honest host sends: to the router, and through it."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

from tests.soak.ospf_bytes import internet_checksum

_MARTIANS = ("0.0.0.0", "127.0.0.1", "255.255.255.255", "224.0.0.1", "240.0.0.1", "10.10.0.255")
_PROTOCOLS = (0, 1, 2, 4, 6, 17, 41, 47, 50, 89, 103, 112, 132, 255)


class Hostile:
    """Frames from ``source_mac`` to ``router_mac``; addresses of the sender, the router and a far host."""

    def __init__(
        self,
        rng: random.Random,
        macs: tuple[bytes, bytes],
        v4: tuple[str, str, str],
        v6: tuple[str, str, str],
    ) -> None:
        self._rng = rng
        self._ethernet = macs[1] + macs[0]
        self._v4, self._v6 = v4, v6
        self._kinds: tuple[Callable[[], bytes], ...] = (
            self._options,
            self._short_lived,
            self._bad_checksum,
            self._bad_header,
            self._fragment,
            self._martian,
            self._transport,
            self._icmp,
            self._v6_chain,
            self._v6_short_lived,
            self._v6_discovery,
            self._arp,
            self._garbage,
        )

    def frame(self) -> tuple[str, bytes]:
        """What is sent next: its kind, and the frame."""
        make = self._rng.choice(self._kinds)
        return make.__name__.strip("_"), make()

    def _to(self, addresses: tuple[str, str, str]) -> str:
        return self._rng.choice(addresses[1:])

    def _ip(
        self,
        payload: bytes = b"",
        *,
        protocol: int = 17,
        ttl: int = 64,
        options: bytes = b"",
        source: str | None = None,
        destination: str | None = None,
        fragment: int = 0,
        first: int | None = None,
        length: int | None = None,
        wrong: int = 0,
    ) -> bytes:
        options += bytes(-len(options) % 4)
        size = 20 + len(options) + len(payload) if length is None else length
        start = 0x40 | (5 + len(options) // 4) if first is None else first
        head = struct.pack(
            "!BBHHHBB", start, 0, size & 0xFFFF, self._rng.getrandbits(16), fragment, ttl, protocol
        )
        ends = (
            IPv4Address(source or self._v4[0]).packed + IPv4Address(destination or self._to(self._v4)).packed
        )
        checksum = internet_checksum(head + b"\0\0" + ends + options) ^ wrong
        return self._ethernet + b"\x08\x00" + head + struct.pack("!H", checksum) + ends + options + payload

    def _udp(self) -> bytes:
        return struct.pack("!HHHH", self._rng.getrandbits(16), self._rng.getrandbits(16), 8, 0)

    def _options(self) -> bytes:
        route = bytes([self._rng.choice([131, 137, 7, 68, 148]), 11, 4]) + self._rng.randbytes(8)
        lying = bytes(
            [self._rng.choice([131, 137, 7, 68]), self._rng.randrange(256), self._rng.randrange(256)]
        )
        return self._ip(self._udp(), options=self._rng.choice([route, lying, self._rng.randbytes(40)]))

    def _short_lived(self) -> bytes:
        return self._ip(self._udp(), ttl=self._rng.choice([0, 1]))

    def _bad_checksum(self) -> bytes:
        return self._ip(self._udp(), wrong=self._rng.randint(1, 65535))

    def _bad_header(self) -> bytes:
        first = self._rng.choice([0x00, 0x40, 0x44, 0x4F, 0x55, 0x65, 0xFF])
        return self._ip(self._udp(), first=first, length=self._rng.choice([0, 19, 20, 27, 29, 1500, 65535]))

    def _fragment(self) -> bytes:
        offset = self._rng.choice([0, 1, 2, 100, 8189, 8191])
        more = self._rng.choice([0, 0x2000, 0x4000, 0x6000, 0x8000])
        payload = self._rng.randbytes(self._rng.choice([0, 1, 7, 8, 600]))
        return self._ip(payload, fragment=more | offset, protocol=self._rng.choice([1, 6, 17]))

    def _martian(self) -> bytes:
        if self._rng.random() < 0.5:
            return self._ip(self._udp(), source=self._rng.choice([*_MARTIANS, self._v4[1], self._v4[2]]))
        return self._ip(self._udp(), destination=self._rng.choice(_MARTIANS))

    def _transport(self) -> bytes:
        port = self._rng.choice([22, 53, 80, 179, 443, 2601, 2605, 8443])
        flags = self._rng.randrange(256)
        tcp = struct.pack(
            "!HHIIBBHHH",
            40000,
            port,
            1,
            2,
            self._rng.randrange(16) << 4,
            flags,
            0,
            self._rng.getrandbits(16),
            9,
        )
        payload = self._rng.choice([tcp, tcp[: self._rng.randrange(20)], tcp + self._rng.randbytes(40)])
        return self._ip(payload, protocol=self._rng.choice([6, *_PROTOCOLS]))

    def _icmp(self) -> bytes:
        inner = self._ip(self._udp())[14:]
        kind = bytes([self._rng.choice([3, 4, 5, 11, 12, 13, 17, 255]), self._rng.randrange(16)])
        rest = self._rng.randbytes(4) + inner[: self._rng.randint(0, len(inner))]
        checksum = struct.pack("!H", internet_checksum(kind + b"\0\0" + rest))
        return self._ip(kind + checksum + rest, protocol=1)

    def _ip6(
        self, payload: bytes, following: int, *, hops: int = 64, length: int | None = None, **ends: str
    ) -> bytes:
        size = len(payload) if length is None else length
        head = struct.pack("!IHBB", 6 << 28, size & 0xFFFF, following, hops)
        source = IPv6Address(ends.get("source", self._v6[0])).packed
        destination = IPv6Address(ends.get("destination", self._to(self._v6))).packed
        return self._ethernet + b"\x86\xdd" + head + source + destination + payload

    def _v6_chain(self) -> bytes:
        kinds = [
            self._rng.choice([0, 43, 44, 60, 51, 135, 139, 140]) for _ in range(self._rng.randint(1, 20))
        ]
        payload = b""
        for following in [*kinds[1:], self._rng.choice([17, 58, 59, 255])]:
            payload += bytes([following, 0]) + self._rng.randbytes(6)
        length = self._rng.choice([None, None, 0, 1, 65535])
        return self._ip6(payload + self._udp(), kinds[0], length=length)

    def _v6_short_lived(self) -> bytes:
        source = self._rng.choice([self._v6[0], "::", "::1", "ff02::1", self._v6[1]])
        return self._ip6(self._udp(), 17, hops=self._rng.choice([0, 1]), source=source)

    def _v6_discovery(self) -> bytes:
        kind = self._rng.choice([133, 134, 135, 137, 143, 255])
        body = bytes([kind, 0, 0, 0]) + self._rng.randbytes(self._rng.randint(0, 60))
        return self._ip6(
            body, 58, hops=255, destination=self._rng.choice(["ff02::1", "ff02::2", self._v6[1]])
        )

    def _arp(self) -> bytes:
        body = struct.pack("!HHBBH", 1, 0x0800, self._rng.choice([6, 0, 255]), 4, self._rng.choice([1, 2, 9]))
        body += self._rng.randbytes(6) + IPv4Address(self._rng.choice(_MARTIANS)).packed
        return b"\xff" * 6 + self._ethernet[6:] + b"\x08\x06" + body + self._rng.randbytes(10)

    def _garbage(self) -> bytes:
        kind = self._rng.choice(
            [b"\x08\x00", b"\x86\xdd", b"\x81\x00", b"\x88\xcc", b"\x88\x47", b"\x00\x10"]
        )
        return self._ethernet + kind + self._rng.randbytes(self._rng.randint(0, 400))
