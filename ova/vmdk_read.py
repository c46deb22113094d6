"""A streamOptimized VMDK read back: every marker, table and grain, in bounded memory."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ova.errors import OvaError
from ova.vmdk import (
    COMPRESSION_DEFLATE,
    GD_AT_END,
    GRAIN_MARKER,
    HEADER,
    MAGIC,
    MARKER,
    MARKER_DIRECTORY,
    MARKER_END,
    MARKER_FOOTER,
    MARKER_TABLE,
    NEWLINES,
    SECTOR_BYTES,
)

_MARKERS_AND_COMPRESSED = 1 << 16 | 1 << 17
_MAX_GRAIN_SECTORS = 2048
_MAX_TABLE_ENTRIES = 4096


@dataclass(frozen=True)
class Header:
    """The significant fields of a sparse extent's header; sizes in sectors."""

    version: int
    flags: int
    capacity: int
    grain: int
    descriptor_offset: int
    descriptor_size: int
    table_entries: int
    directory: int
    overhead: int


def read_header(stream: BinaryIO) -> Header:
    """The header at the stream's position. Raises OvaError when it is not one of a streamOptimized VMDK."""
    raw = stream.read(HEADER.size)
    if len(raw) != HEADER.size or raw[:4] != MAGIC:
        raise OvaError("VMDK: it does not begin with KDMV, so it is no sparse extent")
    fields = HEADER.unpack(raw)
    version, flags, capacity, grain, descriptor_offset, descriptor_size, table_entries = fields[1:8]
    directory, overhead, _, newlines, compression = fields[9:14]
    if newlines != NEWLINES:
        raise OvaError("VMDK: its line ends were changed, as a transfer in text mode does")
    if flags & _MARKERS_AND_COMPRESSED != _MARKERS_AND_COMPRESSED or compression != COMPRESSION_DEFLATE:
        raise OvaError("VMDK: it is not streamOptimized (flags, compressAlgorithm)")
    if version not in (1, 2, 3):
        raise OvaError(f"VMDK: version {version} is unknown")
    if not 8 <= grain <= _MAX_GRAIN_SECTORS or grain & (grain - 1):
        raise OvaError(f"VMDK: grainSize {grain} is no power of two from 8 to {_MAX_GRAIN_SECTORS}")
    if not 1 <= table_entries <= _MAX_TABLE_ENTRIES:
        raise OvaError(f"VMDK: numGTEsPerGT {table_entries} is not possible")
    if capacity == 0:
        raise OvaError("VMDK: capacity is 0")
    return Header(
        version,
        flags,
        capacity,
        grain,
        descriptor_offset,
        descriptor_size,
        table_entries,
        directory,
        overhead,
    )


def read_descriptor(stream: BinaryIO, header: Header) -> dict[str, str]:
    """The embedded descriptor's settings. ``stream`` is at the start of the VMDK. Raises OvaError."""
    if header.descriptor_offset == 0 or header.descriptor_size == 0 or header.descriptor_size > 2048:
        raise OvaError("VMDK: it has no embedded descriptor")
    _seek(stream, header.descriptor_offset)
    raw = stream.read(header.descriptor_size * SECTOR_BYTES).rstrip(b"\0")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise OvaError("VMDK: its descriptor is not text") from None
    settings = dict(re.findall(r'^([A-Za-z.]+)\s*=\s*"?([^"\n]*)"?\s*$', text, re.MULTILINE))
    if settings.get("createType") != "streamOptimized":
        raise OvaError(f"VMDK: createType is {settings.get('createType')!r}, not streamOptimized")
    return settings


def grains(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """First sector and content of each grain, in file order; all structures around them are checked.

    ``stream`` is at the start of the VMDK and ends with it. Raises OvaError at the first error.
    """
    top = read_header(stream)
    if top.directory != GD_AT_END:
        raise OvaError("VMDK: gdOffset does not say that the directory is at the end")
    _seek(stream, top.overhead)
    seen: dict[int, int] = {}
    tables: dict[int, tuple[int, ...]] = {}
    directory: tuple[int, tuple[int, ...]] | None = None
    footer: Header | None = None
    while True:
        at = stream.tell() // SECTOR_BYTES
        sector = _exactly(stream, SECTOR_BYTES)
        lba, size = GRAIN_MARKER.unpack_from(sector)
        if size:
            if footer is not None or directory is not None:
                raise OvaError(f"VMDK: a grain at sector {at} follows the directory")
            content = _inflate(stream, sector, size, top, lba)
            if lba in seen or lba % top.grain:
                raise OvaError(f"VMDK: grain {lba} comes twice or does not begin on a grain")
            seen[lba] = at
            yield lba, content
            continue
        sectors, _, kind = MARKER.unpack(sector)
        if kind == MARKER_END:
            break
        if kind == MARKER_FOOTER:
            footer = read_header(stream)
            continue
        words = _words(stream, sectors)
        if kind == MARKER_TABLE:
            tables[at + 1] = words
        elif kind == MARKER_DIRECTORY:
            directory = at + 1, words
        else:
            raise OvaError(f"VMDK: marker of type {kind} at sector {at} is unknown")
    if stream.read(1):
        raise OvaError("VMDK: something follows its end-of-stream marker")
    if directory is None or footer is None:
        raise OvaError("VMDK: it has no grain directory or no footer")
    _check_tables(top, footer, directory, tables, seen)


def _inflate(stream: BinaryIO, sector: bytes, size: int, top: Header, lba: int) -> bytes:
    limit = top.grain * SECTOR_BYTES
    if size > 2 * limit:
        raise OvaError(f"VMDK: grain {lba} says it has {size} bytes")
    rest = size - (SECTOR_BYTES - GRAIN_MARKER.size)
    if rest > 0:
        sector += _exactly(stream, -(-rest // SECTOR_BYTES) * SECTOR_BYTES)
    inflater = zlib.decompressobj()
    try:
        content = inflater.decompress(sector[GRAIN_MARKER.size : GRAIN_MARKER.size + size], limit + 1)
    except zlib.error as error:
        raise OvaError(f"VMDK: grain {lba} does not inflate: {error}") from None
    wanted = min(limit, (top.capacity - lba) * SECTOR_BYTES)
    if not inflater.eof or len(content) not in (wanted, limit):
        raise OvaError(f"VMDK: grain {lba} has {len(content)} bytes, not {wanted}")
    return content


def _check_tables(
    top: Header,
    footer: Header,
    directory: tuple[int, tuple[int, ...]],
    tables: dict[int, tuple[int, ...]],
    seen: dict[int, int],
) -> None:
    at, entries = directory
    if (footer.capacity, footer.grain, footer.table_entries) != (top.capacity, top.grain, top.table_entries):
        raise OvaError("VMDK: header and footer differ")
    if footer.directory != at:
        raise OvaError(f"VMDK: the footer says the directory is at sector {footer.directory}, it is at {at}")
    covered = top.grain * top.table_entries
    needed = -(-top.capacity // covered)
    if len(entries) < needed or any(entries[needed:]):
        raise OvaError(f"VMDK: the directory does not have {needed} entries")
    named: dict[int, int] = {}
    for index, table_at in enumerate(entries[:needed]):
        if table_at == 0:
            continue
        table = tables.get(table_at)
        if table is None or len(table) < top.table_entries:
            raise OvaError(f"VMDK: no whole grain table is at sector {table_at}")
        named |= {
            index * covered + number * top.grain: sector
            for number, sector in enumerate(table[: top.table_entries])
            if sector
        }
    if named != seen:
        raise OvaError("VMDK: the grain tables do not name the grains that are there")


def _words(stream: BinaryIO, sectors: int) -> tuple[int, ...]:
    if not 0 < sectors <= 65536:
        raise OvaError(f"VMDK: a table of {sectors} sectors is not possible")
    raw = _exactly(stream, sectors * SECTOR_BYTES)
    return struct.unpack(f"<{len(raw) // 4}I", raw)


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise OvaError("VMDK: it ends too early")
    return data


def _seek(stream: BinaryIO, sector: int) -> None:
    stream.seek(sector * SECTOR_BYTES)
