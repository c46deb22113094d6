"""Which frames are traced, as masks and values of VPP's classifier. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

VECTOR_BYTES = 16
_TYPE_AT = 12
_TAG_BYTES = 4
_TAGS = (b"\x81\x00", b"\x88\xa8")
_VLAN = b"\x0f\xff"
_ADDRESSES = {4: (b"\x08\x00", 12, 16), 6: (b"\x86\xdd", 8, 24)}
"""By family: EtherType, and where the source and the destination begin in the IP header."""
_HEADER_AT = 14


@dataclass(frozen=True)
class Match:
    """A frame matches where its first bytes under ``mask`` are ``value``; both are whole vectors long."""

    mask: bytes
    value: bytes


@dataclass(frozen=True)
class Frames:
    """Frames that arrive for one interface. Empty fields are any."""

    mac: bytes = b""
    """The interface's own; frames to groups are also taken, and distinguished afterwards."""
    vlan_id: int | None = None
    """Of a VLAN: frames with this tag alone."""
    source: str | None = None
    destination: str | None = None

    def matches(self) -> tuple[Match, ...]:
        """A frame is traced when one of these matches; none: every frame is."""
        return tuple(_match(fields) for fields in self._fields())

    def _fields(self) -> Iterator[list[tuple[int, bytes, bytes]]]:
        """Position, mask and value of what has to match, for each kind of frame."""
        for address in self._addresses():
            for tagged in self._taggings():
                fields = [*address, *self._tag(tagged), *self._parties(_TAG_BYTES if tagged else 0)]
                if fields:
                    yield fields

    def _addresses(self) -> list[list[tuple[int, bytes, bytes]]]:
        if not self.mac:
            return [[]]
        return [[(0, b"\xff" * 6, self.mac)], [(0, b"\x01", b"\x01")]]

    def _taggings(self) -> tuple[bytes, ...]:
        if self.vlan_id is not None:
            return _TAGS
        return (b"", *_TAGS) if self.source or self.destination else (b"",)

    def _tag(self, tag: bytes) -> Iterator[tuple[int, bytes, bytes]]:
        if tag:
            yield _TYPE_AT, b"\xff\xff", tag
            if self.vlan_id is not None:
                yield _TYPE_AT + 2, _VLAN, self.vlan_id.to_bytes(2, "big")

    def _parties(self, shift: int) -> Iterator[tuple[int, bytes, bytes]]:
        networks = [ip_network(text) if text else None for text in (self.source, self.destination)]
        family = next((network.version for network in networks if network is not None), None)
        if family is None:
            return
        kind, *places = _ADDRESSES[family]
        yield _TYPE_AT + shift, b"\xff\xff", kind
        for place, network in zip(places, networks, strict=True):
            if network is not None:
                yield _HEADER_AT + shift + place, *_bytes(network)


def _bytes(network: IPv4Network | IPv6Network) -> tuple[bytes, bytes]:
    return network.netmask.packed, network.network_address.packed


def _match(fields: list[tuple[int, bytes, bytes]]) -> Match:
    end = max(at + len(mask) for at, mask, _ in fields)
    length = -(-end // VECTOR_BYTES) * VECTOR_BYTES
    mask, value = bytearray(length), bytearray(length)
    for at, bits, wanted in fields:
        mask[at : at + len(bits)] = bits
        value[at : at + len(bits)] = bytes(a & b for a, b in zip(bits, wanted, strict=True))
    return Match(bytes(mask), bytes(value))
