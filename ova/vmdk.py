"""Disks as streamOptimized VMDK (VMware, Virtual Disk Format 5.0), written by this module.

qemu-img writes the format too, but generates a random content id, so that two builds always differ. All
numbers on the disk are little-endian; a sector is 512 bytes, a grain 64 KiB.
"""

from __future__ import annotations

import errno
import hashlib
import os
import struct
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ova.errors import OvaError

SECTOR_BYTES = 512
GRAIN_SECTORS = 128
GRAIN_BYTES = GRAIN_SECTORS * SECTOR_BYTES
TABLE_ENTRIES = 512
"""The number of grains in one grain table: 32 MiB of disk."""
DESCRIPTOR_SECTORS = 20
OVERHEAD_SECTORS = 128
"""Header and descriptor; grains begin after them."""
GD_AT_END = 0xFFFF_FFFF_FFFF_FFFF

MAGIC = b"KDMV"
VERSION = 3
FLAGS = 0x1 | 1 << 16 | 1 << 17
"""The newline test is valid, grains are compressed, and markers describe what follows."""
COMPRESSION_DEFLATE = 1
NEWLINES = b"\n \r\n"
HEADER = struct.Struct("<4sIIQQQQIQQQ?4sH433x")
MARKER = struct.Struct("<QII496x")
GRAIN_MARKER = struct.Struct("<QI")
MARKER_END, MARKER_TABLE, MARKER_DIRECTORY, MARKER_FOOTER = 0, 1, 2, 3

_LEVEL = 6
_AHEAD = 64
"""The most grains that may wait to be written: bounds memory to some 4 MiB."""
_ZEROS = bytes(GRAIN_BYTES)


@dataclass(frozen=True)
class Written:
    """The result of writing a VMDK."""

    capacity_bytes: int
    populated_bytes: int
    """The size of its grains, uncompressed."""
    size_bytes: int


def header(capacity_sectors: int, directory_sector: int) -> bytes:
    """The sparse extent's header, or its footer when the directory's position is known."""
    return HEADER.pack(
        MAGIC,
        VERSION,
        FLAGS,
        capacity_sectors,
        GRAIN_SECTORS,
        1,
        DESCRIPTOR_SECTORS,
        TABLE_ENTRIES,
        0,
        directory_sector,
        OVERHEAD_SECTORS,
        False,
        NEWLINES,
        COMPRESSION_DEFLATE,
    )


def write(raw: Path, vmdk: Path) -> Written:
    """Write the raw disk image ``raw`` as ``vmdk``; holes and zeros take no space.

    The same input gives the same output bytes. Raises OvaError when ``raw`` is not a whole number of sectors,
    and OSError.
    """
    capacity_bytes = raw.stat().st_size
    if capacity_bytes == 0 or capacity_bytes % SECTOR_BYTES:
        raise OvaError(f"{raw}: {capacity_bytes} bytes are no whole number of {SECTOR_BYTES}-byte sectors")
    with raw.open("rb") as source, vmdk.open("wb") as target:
        writer = _Writer(target, capacity_bytes // SECTOR_BYTES)
        with ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="vmdk") as pool:
            waiting: deque[tuple[int, Future[bytes]]] = deque()
            for index, grain in _grains(source, capacity_bytes):
                waiting.append((index, pool.submit(zlib.compress, grain, _LEVEL)))
                writer.populated_bytes += len(grain)
                if len(waiting) >= _AHEAD:
                    writer.grain(*_first(waiting))
            while waiting:
                writer.grain(*_first(waiting))
        return writer.finish(vmdk.name)


def _first(waiting: deque[tuple[int, Future[bytes]]]) -> tuple[int, bytes]:
    index, compressed = waiting.popleft()
    return index, compressed.result()


def _grains(source: BinaryIO, capacity_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Number and content of each grain that is not all zeros; the last grain is padded with zeros."""
    for start, end in _extents(source, capacity_bytes):
        source.seek(start)
        for offset in range(start, end, GRAIN_BYTES):
            grain = source.read(GRAIN_BYTES)
            grain += _ZEROS[len(grain) :]
            if grain != _ZEROS:
                yield offset // GRAIN_BYTES, grain


def _extents(source: BinaryIO, capacity_bytes: int) -> Iterator[tuple[int, int]]:
    """The parts that are not holes, rounded outwards to whole grains, in order and disjoint."""
    descriptor, end = source.fileno(), 0
    while end < capacity_bytes:
        try:
            data = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            raise
        hole = os.lseek(descriptor, data, os.SEEK_HOLE)
        start = max(end, data // GRAIN_BYTES * GRAIN_BYTES)
        end = min(capacity_bytes, -(-hole // GRAIN_BYTES) * GRAIN_BYTES)
        if start < end:
            yield start, end


class _Writer:
    """Grains in rising order, then tables, directory, footer; header and descriptor last, at the front."""

    def __init__(self, target: BinaryIO, capacity_sectors: int) -> None:
        self.populated_bytes = 0
        self._target = target
        self._capacity_sectors = capacity_sectors
        grains = -(-capacity_sectors // GRAIN_SECTORS)
        self._directory = [0] * -(-grains // TABLE_ENTRIES)
        self._table: list[int] = []
        self._table_index = -1
        self._content = hashlib.sha256(struct.pack("<Q", capacity_sectors))
        target.write(bytes(OVERHEAD_SECTORS * SECTOR_BYTES))

    def grain(self, index: int, compressed: bytes) -> None:
        """Append one compressed grain."""
        table_index, entry = divmod(index, TABLE_ENTRIES)
        if table_index != self._table_index:
            self._end_table()
            self._table_index, self._table = table_index, [0] * TABLE_ENTRIES
        self._table[entry] = self._sector()
        marked = GRAIN_MARKER.pack(index * GRAIN_SECTORS, len(compressed)) + compressed
        self._content.update(marked)
        self._put(marked)

    def finish(self, name: str) -> Written:
        """Write the parts after the grains, and the parts before them."""
        self._end_table()
        directory = struct.pack(f"<{len(self._directory)}I", *self._directory)
        self._marker(_sectors(directory), MARKER_DIRECTORY)
        at = self._sector()
        self._put(directory)
        self._marker(1, MARKER_FOOTER)
        self._put(header(self._capacity_sectors, at))
        self._marker(0, MARKER_END)
        size_bytes = self._target.tell()
        self._target.seek(0)
        self._put(header(self._capacity_sectors, GD_AT_END))
        self._put(descriptor(name, self._capacity_sectors, self._content_id()))
        return Written(self._capacity_sectors * SECTOR_BYTES, self.populated_bytes, size_bytes)

    def _end_table(self) -> None:
        if self._table_index < 0:
            return
        table = struct.pack(f"<{TABLE_ENTRIES}I", *self._table)
        self._marker(_sectors(table), MARKER_TABLE)
        self._directory[self._table_index] = self._sector()
        self._put(table)

    def _marker(self, sectors: int, kind: int) -> None:
        self._put(MARKER.pack(sectors, 0, kind))

    def _put(self, data: bytes) -> None:
        self._target.write(data + bytes(-len(data) % SECTOR_BYTES))

    def _sector(self) -> int:
        return self._target.tell() // SECTOR_BYTES

    def _content_id(self) -> int:
        # The two highest values mean "none" in a descriptor.
        return int.from_bytes(self._content.digest()[:4], "big") % 0xFFFF_FFFE


def _sectors(data: bytes) -> int:
    return -(-len(data) // SECTOR_BYTES)


def descriptor(name: str, capacity_sectors: int, content_id: int) -> bytes:
    """The embedded descriptor, as VMware's tools write it."""
    cylinders = min(capacity_sectors // (255 * 63), 65535)
    lines = (
        "# Disk DescriptorFile",
        "version=1",
        f"CID={content_id:08x}",
        "parentCID=ffffffff",
        'createType="streamOptimized"',
        "",
        "# Extent description",
        f'RW {capacity_sectors} SPARSE "{name}"',
        "",
        "# The Disk Data Base",
        "#DDB",
        "",
        'ddb.adapterType = "lsilogic"',
        f'ddb.geometry.cylinders = "{cylinders}"',
        'ddb.geometry.heads = "255"',
        'ddb.geometry.sectors = "63"',
        'ddb.virtualHWVersion = "13"',
        "",
    )
    text = "\n".join(lines).encode("ascii")
    return text + bytes(DESCRIPTOR_SECTORS * SECTOR_BYTES - len(text))
