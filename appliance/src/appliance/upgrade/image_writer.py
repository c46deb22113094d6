"""Writes a file system image to a slot's partition, and reads it back to verify it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from appliance.upgrade.errors import UpgradeRefused

_BLOCK_BYTES = 1 << 20
_ZEROS = bytes(_BLOCK_BYTES)
_SYNC_BYTES = 64 << 20
"""Written between two waits for the disk: dirty memory must not pile up on a small router."""
Report = Callable[[int], None]
"""Called with the number of bytes done."""


def size_bytes(device: Path) -> int:
    """Size of a partition or file. Raises UpgradeRefused when it does not exist."""
    try:
        descriptor = os.open(device, os.O_RDONLY)
        try:
            return os.lseek(descriptor, 0, os.SEEK_END)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UpgradeRefused(f"the other slot's partition cannot be read: {error}") from None


def write(device: Path, content: Iterable[bytes], size: int, report: Report) -> None:
    """Write ``size`` bytes of content to the start of ``device``, durably.

    Existing zeros are not written again: they stay unallocated on a thin disk. Raises UpgradeRefused when the
    content is shorter or longer, OSError.
    """
    descriptor = os.open(device, os.O_RDWR)
    try:
        done = unsynced = 0
        for block in _blocks(content):
            if done + len(block) > size:
                raise UpgradeRefused(f"the image is longer than the {size} bytes that it should have")
            if block != _ZEROS[: len(block)] or os.pread(descriptor, len(block), done) != block:
                _write_all(descriptor, block, done)
                unsynced += len(block)
            done += len(block)
            if unsynced >= _SYNC_BYTES:
                os.fdatasync(descriptor)
                unsynced = 0
            report(done)
        if done != size:
            raise UpgradeRefused(f"the image has {done} bytes, not {size}")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def spoil(device: Path) -> None:
    """Make a slot unbootable: a half-written image must never be taken for a system. Raises OSError."""
    descriptor = os.open(device, os.O_WRONLY)
    try:
        _write_all(descriptor, _ZEROS, 0)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check(device: Path, size: int, sha256: str, report: Report) -> None:
    """Read back from the disk, not from memory. Raises UpgradeRefused when it is not what was written."""
    found, done = hashlib.sha256(), 0
    descriptor = os.open(device, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        while done < size and (block := os.pread(descriptor, min(_BLOCK_BYTES, size - done), done)):
            found.update(block)
            os.posix_fadvise(descriptor, done, len(block), os.POSIX_FADV_DONTNEED)
            done += len(block)
            report(done)
    finally:
        os.close(descriptor)
    if found.hexdigest() != sha256:
        raise UpgradeRefused("the slot does not hold what was written: the disk may be failing")


def _write_all(descriptor: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written


def _blocks(content: Iterable[bytes]) -> Iterator[bytes]:
    """The content in blocks of one size; the last may be shorter."""
    waiting = bytearray()
    for chunk in content:
        waiting += chunk
        while len(waiting) >= _BLOCK_BYTES:
            yield bytes(waiting[:_BLOCK_BYTES])
            del waiting[:_BLOCK_BYTES]
    if waiting:
        yield bytes(waiting)
