"""The directory that outlives the process: the secret key, the embedded database, collected static files."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path


def state_directory() -> Path | None:
    """MILLRACE_STATE_DIR, created if needed. None when unset: then nothing outlives the process."""
    value = os.environ.get("MILLRACE_STATE_DIR")
    if not value:
        return None
    directory = Path(value)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def secret_key(directory: Path | None) -> str:
    """The key that signs sessions: made at the first start, readable by its owner only."""
    if directory is None:
        return secrets.token_urlsafe(64)
    path = directory / "secret_key"
    lock = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several processes that start at once, only one creates it
        # An empty file: the power failed before its bytes reached the disk.
        if not path.exists() or path.stat().st_size == 0:
            _write_whole(path, secrets.token_urlsafe(64))
        return path.read_text().strip()
    finally:
        os.close(lock)


def _write_whole(path: Path, text: str) -> None:
    """Write a file, readable by its owner only, atomically, even through a power cut."""
    draft = path.with_name(f"{path.name}.draft")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
