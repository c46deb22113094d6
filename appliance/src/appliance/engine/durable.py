"""Files that are whole or not there, also after a cut of power."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def write(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Put ``data`` at ``path``: written beside it, fsync, renamed, directory fsync.

    When it returns the file survives a cut of power; when it raises OSError the old file is still there.
    """
    new = path.with_name(f".{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        new.rename(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def write_json(path: Path, value: Any) -> None:
    """``write`` of compact JSON."""
    write(path, json.dumps(value, separators=(",", ":")).encode())


def remove(path: Path) -> None:
    """Remove ``path``, durably; it may be missing."""
    path.unlink(missing_ok=True)
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make renames and removals in ``directory`` survive a cut of power."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
