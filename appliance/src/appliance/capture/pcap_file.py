"""Packets in the format of pcap files, as they arrive: whole records only, within the requested limits."""

from __future__ import annotations

import struct
from collections.abc import Callable

HEADER_BYTES = 24
RECORD_BYTES = 16
_MAGIC = {0xA1B2C3D4, 0xA1B23C4D}
_LONGEST_BYTES = 262_144
"""No record is longer (MAXIMUM_SNAPLEN of libpcap)."""


class NotPcap(Exception):
    """The data is not a pcap file."""


class Records:
    """Passes whole records on to ``write`` until ``packets`` or ``size_bytes`` is reached.

    ``write`` takes bytes of the file, beginning with its header.
    """

    def __init__(self, write: Callable[[bytes], None], packets: int, size_bytes: int) -> None:
        self._write, self._most, self._most_bytes = write, packets, size_bytes
        self._rest = b""
        self._words = ""
        self.packets = 0
        self.size_bytes = 0
        self.full = ""
        """Which limit was reached; empty while none is."""

    def feed(self, data: bytes) -> None:
        """Take more. Raises NotPcap, and what ``write`` raises."""
        if self.full:
            return
        data = self._rest + data
        at = 0
        if not self._words:
            if len(data) < HEADER_BYTES:
                self._rest = data
                return
            self._words = _byte_order(data)
            at = HEADER_BYTES
        end = self._whole(data, at)
        if end:
            self._write(data[:end])
            self.size_bytes += end
        self._rest = data[end:]

    def _whole(self, data: bytes, at: int) -> int:
        """The end of the last whole record that is still wanted."""
        length_of = struct.Struct(f"{self._words}I").unpack_from
        while at + RECORD_BYTES <= len(data):
            (length,) = length_of(data, at + 8)
            if length > _LONGEST_BYTES:
                raise NotPcap(f"a record of {length} bytes")
            end = at + RECORD_BYTES + length
            if end > len(data):
                break
            if self.size_bytes + end > self._most_bytes:
                self.full = f"the limit of {self._most_bytes} bytes was reached"
                break
            at = end
            self.packets += 1
            if self.packets >= self._most:
                self.full = f"the limit of {self._most} packets was reached"
                break
        return at


def _byte_order(header: bytes) -> str:
    for order in "<>":
        if struct.unpack_from(f"{order}I", header)[0] in _MAGIC:
            return order
    raise NotPcap("it does not begin as a pcap file does")
