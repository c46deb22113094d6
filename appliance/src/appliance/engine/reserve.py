"""Space reserved for the agent, so that a full disk does not prevent a rollback.

The reserve is a few files of zeros. A rollback, a confirmation and the timer may spend it; a commit of a new
document may not, and is refused while the reserve is not whole.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from appliance.engine import durable
from appliance.errors import RouterUnavailable, StorageFull

T = TypeVar("T")
log = logging.getLogger(__name__)

_FILES = 8
"""Several files, since a disk can run out of inodes too."""
_FILE_BYTES = 512 * 1024
_SMALLEST_COMMIT_BYTES = 1024 * 1024
_FULL = {errno.ENOSPC, errno.EDQUOT}


def is_full(error: BaseException | None) -> bool:
    """Whether the disk, or this user's quota, is full."""
    return isinstance(error, OSError) and error.errno in _FULL


class Room(NamedTuple):
    """Space on the disk that holds the agent's state."""

    free_bytes: int
    needed_bytes: int
    """The part of it needed for the smallest commit."""


class Reserve:
    """The agent's own space in ``state_dir``. Safe to use from any thread."""

    def __init__(self, state_dir: Path, files: int = _FILES, file_bytes: int = _FILE_BYTES) -> None:
        self._directory, self._file_bytes = state_dir / "reserve", file_bytes
        self._paths = [self._directory / str(number) for number in range(files)]
        self._lock = threading.Lock()
        self._whole = False
        durable.make_folder(self._directory, 0o700)

    @property
    def size_bytes(self) -> int:
        """Of the whole reserve."""
        return len(self._paths) * self._file_bytes

    @property
    def usage(self) -> dict[str, int]:
        """``used_bytes`` set aside, and the ``quota_bytes`` that should be."""
        return {"used_bytes": self.size_bytes if self._whole else 0, "quota_bytes": self.size_bytes}

    def keep(self) -> bool:
        """Set aside what is missing; returns whether the reserve is whole now. Raises nothing."""
        with self._lock:
            if self._whole:
                return True
            missing = [path for path in self._paths if not self._is_there(path)]
            # Space must be left for others: a reserve that takes the last block makes the next write fail.
            if missing and self._free_bytes() < (len(missing) * self._file_bytes + self.size_bytes):
                return False
            try:
                for path in missing:
                    durable.allocate(path, self._file_bytes)
            except OSError as error:
                log.warning("no space can be reserved in %s: %s", self._directory, error)
                return False
            self._whole = True
            return True

    def release(self) -> bool:
        """Free the space for the next write; returns whether there was any. Raises nothing."""
        with self._lock:
            self._whole = False
            freed = False
            for path in self._paths:
                try:
                    path.unlink()
                    freed = True
                except OSError:
                    continue
        if freed:
            log.warning("the disk is full: the agent's reserve in %s is used", self._directory)
        return freed

    def make_room(self) -> None:
        """Release the reserve when the disk is nearly full: before something that must not fail."""
        if self._free_bytes() < self.size_bytes:
            self.release()

    def spend(self, write: Callable[[], T]) -> T:
        """Call ``write``, and once more with the reserve released if the disk is full. Raises OSError."""
        try:
            return write()
        except OSError as error:
            if not is_full(error) or not self.release():
                raise
        return write()

    def require_room(self, wanted_bytes: int) -> None:
        """Raise StorageFull unless the reserve is whole and that much more is free."""
        free_bytes = self._free_bytes()
        if self.keep() and free_bytes >= wanted_bytes:
            return
        needed_bytes = wanted_bytes if self._whole else 2 * self.size_bytes + wanted_bytes
        raise StorageFull(
            f"the disk that holds the router's revisions ({self._directory.parent}) is full: "
            f"{_mib(free_bytes)} MiB are free and {_mib(needed_bytes) + 1} MiB are needed. Nothing was "
            "changed. Free space on it, then commit again; confirming and rolling back still work"
        )

    def room(self) -> Room:
        """The free space, and what a commit needs, including what refilling the reserve takes."""
        missing = 0 if self._whole else 2 * self.size_bytes
        return Room(self._free_bytes(), missing + _SMALLEST_COMMIT_BYTES)

    def refusal(self, error: OSError) -> StorageFull | RouterUnavailable:
        """The error for a caller when the state cannot be written and nothing was changed."""
        what = f"the router's state in {self._directory.parent} cannot be written: {error.strerror or error}"
        kind = StorageFull if is_full(error) else RouterUnavailable
        return kind(f"{what}. Nothing was changed")

    def _is_there(self, path: Path) -> bool:
        try:
            found = path.stat()
        except OSError:
            return False
        return found.st_size == self._file_bytes and found.st_blocks * 512 >= self._file_bytes

    def _free_bytes(self) -> int:
        try:
            found = os.statvfs(self._directory)
        except OSError:
            return 0
        return found.f_bavail * found.f_frsize


def _mib(number_bytes: int) -> int:
    return number_bytes // 1024 // 1024
