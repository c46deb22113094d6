"""Netlink messages as bytes, for queries made by the thousand: pyroute2 takes a hundred times as long."""

from __future__ import annotations

import struct
from collections.abc import Iterator

HEADER = struct.Struct("=IHHII")
"""Length, kind, flags, sequence number, port."""
REQUEST, ACK, DUMP = 0x1, 0x4, 0x300
ERROR, DONE = 2, 3
_ATTRIBUTE = struct.Struct("=HH")
_KIND = 0x3FFF


def message(kind: int, flags: int, number: int, body: bytes) -> bytes:
    """One message, ready to be sent."""
    return HEADER.pack(HEADER.size + len(body), kind, REQUEST | flags, number, 0) + body


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each message in one received buffer."""
    offset = 0
    while offset + HEADER.size <= len(data):
        length, kind, _, _, _ = HEADER.unpack_from(data, offset)
        yield kind, data[offset + HEADER.size : offset + length]
        offset += (max(length, HEADER.size) + 3) & ~3


def error_of(content: bytes) -> int:
    """The ``errno`` in a message of kind ERROR; 0 is success."""
    return -int(struct.unpack_from("=i", content)[0])


def attribute(kind: int, value: bytes) -> bytes:
    """One attribute, padded."""
    return _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), kind) + value + b"\0" * (-len(value) % 4)


def attributes(data: bytes, offset: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Kind, and where the content begins and ends."""
    while offset + 4 <= end:
        length, kind = _ATTRIBUTE.unpack_from(data, offset)
        yield kind & _KIND, offset + 4, offset + length
        offset += (max(length, 4) + 3) & ~3
