"""Files that are whole or absent, even after a power cut; the only way root writes a file.

Every operation is by name, relative to a folder that nobody else may write to (see ``folders``).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from appliance.engine import folders

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Owner(NamedTuple):
    """The user and group to own a file; -1 leaves either as it is."""

    uid: int = -1
    gid: int = -1


def write(path: Path, data: bytes, mode: int = 0o600, owner: Owner | None = None) -> None:
    """Put ``data`` at ``path``: write it next to the path, fsync, rename, fsync the directory.

    Once it returns the file survives a power cut, with exactly this mode and owner; on OSError the old file
    is still there. Raises UnsafeFolder where others may write.
    """
    _replace(path, data, mode, owner, synced=True)


def write_whole(path: Path, data: bytes) -> None:
    """``write`` without waiting for the disk: whole for every reader, but a power cut may lose it."""
    _replace(path, data, 0o600, None, synced=False)


def write_json(path: Path, value: Any) -> None:
    """``write`` of compact JSON."""
    write(path, compact(value))


def compact(value: Any) -> bytes:
    """JSON without spaces."""
    return json.dumps(value, separators=(",", ":")).encode()


def sync(paths: Iterable[Path]) -> None:
    """Wait until files of ``write_whole``, and their names, survive a power cut. Raises OSError."""
    for above, files in groupby(sorted(paths), lambda path: path.parent):
        with folders.opened(above) as folder:
            for path in files:
                descriptor = os.open(path.name, _READ, dir_fd=folder)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
            os.fsync(folder)


def link(path: Path, target: str) -> None:
    """Make ``path`` a symbolic link to ``target``, replacing any file there."""
    with folders.opened(path.parent) as folder, _beside(path.name, folder) as new:
        os.symlink(target, new, dir_fd=folder)
        os.rename(new, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def remove(path: Path) -> None:
    """Remove ``path``, durably; it may be missing."""
    _remove(path, synced=True)


def forget(path: Path) -> None:
    """``remove`` without waiting for the disk: a power cut may bring the file back."""
    _remove(path, synced=False)


def rename(path: Path, new_name: str) -> None:
    """Rename the file within its folder, durably."""
    with folders.opened(path.parent) as folder:
        os.rename(path.name, new_name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def move(path: Path, new_path: Path) -> None:
    """Put the file in place of one in the same folder without waiting for the disk: a power cut may undo it,
    or lose what neither was waited for."""
    with folders.opened(path.parent) as folder:
        os.rename(path.name, new_path.name, src_dir_fd=folder, dst_dir_fd=folder)


def append(path: Path, data: bytes, offset: int) -> None:
    """Put ``data`` behind the first ``offset`` bytes of a file, durably; the file is made if need be.

    When it raises OSError the file ends at ``offset``, as before.
    """
    with folders.opened(path.parent) as folder:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path.name, flags, 0o600, dir_fd=folder), "wb") as stream:
            try:
                stream.seek(offset)
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            except OSError:
                os.ftruncate(stream.fileno(), offset)
                raise


def allocate(path: Path, size_bytes: int) -> None:
    """Make ``path`` a file that occupies the given number of bytes on disk. On OSError no file is left."""
    with folders.opened(path.parent) as folder:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path.name, flags, 0o600, dir_fd=folder)
        try:
            os.posix_fallocate(descriptor, 0, size_bytes)
        except OSError:
            os.unlink(path.name, dir_fd=folder)
            raise
        finally:
            os.close(descriptor)


def new_file(path: Path) -> int:
    """Descriptor for writing a new file that only the caller can access; the caller closes it."""
    with folders.opened(path.parent) as folder:
        return os.open(path.name, _NEW, 0o600, dir_fd=folder)


def lock_file(path: Path) -> int:
    """Descriptor of a file to lock, created if missing; the caller closes it."""
    with folders.opened(path.parent) as folder:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(path.name, flags, 0o600, dir_fd=folder)


def make_folder(path: Path, mode: int = 0o755, owner: Owner | None = None) -> None:
    """Make the folder ``path`` and any missing parents; an existing folder stays as it is.

    Parents get mode 0755 and stay the caller's.
    """
    if path.is_dir():
        return
    if not path.parent.is_dir():
        make_folder(path.parent)
    with folders.opened(path.parent) as above:
        try:
            os.mkdir(path.name, 0o700, dir_fd=above)
        except FileExistsError:
            return
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        made = os.open(path.name, flags, dir_fd=above)
        try:
            if owner is not None:
                os.fchown(made, owner.uid, owner.gid)
            os.fchmod(made, mode)
        finally:
            os.close(made)


def give(path: Path, mode: int, owner: Owner) -> None:
    """Set mode and owner of what was just made at ``path``, which is no symbolic link (a socket)."""
    with folders.opened(path.parent) as folder:
        os.chown(path.name, owner.uid, owner.gid, dir_fd=folder, follow_symlinks=False)
        # No other user can have placed a link here: the folder is the caller's.
        os.chmod(path.name, mode, dir_fd=folder)


def _replace(path: Path, data: bytes, mode: int, owner: Owner | None, *, synced: bool) -> None:
    with folders.opened(path.parent) as folder, _beside(path.name, folder) as new:
        descriptor = os.open(new, _NEW, 0o600, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            # On the descriptor, and the owner first: a change of owner may take mode bits away.
            if owner is not None:
                os.fchown(descriptor, owner.uid, owner.gid)
            os.fchmod(descriptor, mode)
            if synced:
                os.fsync(descriptor)
        try:
            os.rename(new, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except IsADirectoryError:
            _set_aside(path.name, folder)
            os.rename(new, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        if synced:
            os.fsync(folder)


def _remove(path: Path, *, synced: bool) -> None:
    with folders.opened(path.parent) as folder:
        try:
            os.unlink(path.name, dir_fd=folder)
        except FileNotFoundError:
            pass
        except IsADirectoryError:
            _set_aside(path.name, folder)
        if synced:
            os.fsync(folder)


def _set_aside(name: str, folder: int) -> None:
    """Move aside a folder that has a file's name: its contents are kept, under a name nobody reads."""
    os.rename(name, f"{name}.damaged-{time.time_ns()}", src_dir_fd=folder, dst_dir_fd=folder)


def forget_draft(path: Path) -> None:
    """Remove the draft of ``path`` that a crash may have left. Raises nothing."""
    with suppress(OSError), folders.opened(path.parent) as folder:
        os.unlink(_draft(path.name), dir_fd=folder)


def forget_drafts(folder: Path) -> None:
    """Remove every draft that a crash may have left in ``folder`` and the folders in it. Raises nothing."""
    for above in (folder, *(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())):
        for draft in above.glob(_draft("*")):
            with suppress(OSError), folders.opened(above) as opened:
                os.unlink(draft.name, dir_fd=opened)


def _draft(name: str) -> str:
    return f".{name}.new"


@contextmanager
def _beside(name: str, folder: int) -> Iterator[str]:
    """Name of a draft next to ``name``. A draft left by a crash is removed, and so is one that failed."""
    new = _draft(name)
    with suppress(FileNotFoundError):
        os.unlink(new, dir_fd=folder)
    try:
        yield new
    except BaseException:
        with suppress(OSError):
            os.unlink(new, dir_fd=folder)
        raise
