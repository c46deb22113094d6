"""Zstandard (RFC 8878) through its own program: Python's library has none before 3.14."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import IO

from appliance.upgrade.errors import UpgradeRefused

_PROGRAM = "zstd"
_CHUNK_BYTES = 1 << 20
_LEVEL = 12
_COMPRESS_S = 3600.0
_MEMORY_MIB = 128
"""Memory that unpacking may take; the level used here needs 10."""


def compress(source: Path, target: Path) -> None:
    """Compress a file; the same content gives the same bytes. Raises UpgradeRefused."""
    # With worker threads the result does not depend on their number; without any it would differ.
    argv = [_PROGRAM, "-q", "-f", f"-{_LEVEL}", "-T0", "-o", str(target), "--", str(source)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_COMPRESS_S, check=False)
    except FileNotFoundError:
        raise UpgradeRefused("zstd is not installed; it is needed to pack an upgrade") from None
    except subprocess.TimeoutExpired:
        raise UpgradeRefused(f"zstd took longer than {_COMPRESS_S:.0f} s") from None
    if done.returncode != 0:
        raise UpgradeRefused(f"zstd failed: {done.stderr.strip()[-300:]}")


def unpacked(path: Path, offset: int, size: int) -> Generator[bytes, None, None]:
    """The content of ``size`` compressed bytes at ``offset`` of a file. Raises UpgradeRefused when damaged.

    The caller bounds what it takes; closing the iterator ends the program.
    """
    argv = [_PROGRAM, "-q", "-d", "-c", f"--memory={_MEMORY_MIB}MB"]
    try:
        process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except FileNotFoundError:
        raise UpgradeRefused("zstd is not installed on this router") from None
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    feeder = threading.Thread(target=_feed, args=(path, offset, size, process.stdin), daemon=True)
    feeder.start()
    try:
        while chunk := process.stdout.read(_CHUNK_BYTES):
            yield chunk
        said = process.stderr.read(2000).decode(errors="replace").strip()
        if process.wait() != 0:
            raise UpgradeRefused(f"the upgrade file does not unpack: {said}")
    finally:
        if process.poll() is None:
            process.kill()
        process.stdout.close()
        process.stderr.close()
        feeder.join()
        process.wait()


def _feed(path: Path, offset: int, size: int, into: IO[bytes]) -> None:
    # The program may end before it has read everything; what it says then tells more than a broken pipe.
    with suppress(BrokenPipeError), into, path.open("rb") as stream:
        stream.seek(offset)
        while size and (chunk := stream.read(min(_CHUNK_BYTES, size))):
            into.write(chunk)
            size -= len(chunk)
