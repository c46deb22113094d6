"""Folders that root may write into: no other user can put anything in the way.

Every system call looks a name up anew. In a folder that another user may write to, that user can swap a file
for a symbolic link between two calls: root then writes or gives away any file on the system.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_trusted: set[int] = set()
_MAX_LINKS = 40
"""As many symbolic links as the kernel follows (path_resolution(7))."""
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class UnsafeFolder(PermissionError):
    """Another user may change a folder on the way to a file, so nothing is written there."""


def trust(uids: Iterable[int]) -> None:
    """Also let these users own folders on the way, such as the owner of the checkout a lab runs from."""
    _trusted.update(uids)


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Descriptor of the folder ``path``, every folder on the way checked. Raises UnsafeFolder, OSError.

    Each folder on the way, and each that holds a symbolic link on the way, belongs to root, to the caller or
    to a user named to ``trust``. The last one is writable by its owner alone; those before it too, or they
    are sticky like ``/tmp``. An operation relative to the descriptor cannot be redirected.
    """
    folder = _walk(path)
    try:
        yield folder
    finally:
        os.close(folder)


def _walk(path: Path) -> int:
    """One component at a time, each relative to the folder before it."""
    absolute = path if path.is_absolute() else Path.cwd() / path
    names = list(reversed(absolute.parts[1:]))
    trail = [os.open("/", _LOOK)]
    links = 0
    try:
        while names:
            name = names.pop()
            if name == "..":
                if len(trail) > 1:
                    os.close(trail.pop())
                continue
            _check(trail[-1], path, may_be_sticky=True)
            trail.append(os.open(name, _LOOK, dir_fd=trail[-1]))
            kind = stat.S_IFMT(os.fstat(trail[-1]).st_mode)
            if kind == stat.S_IFDIR:
                continue
            below = trail.pop()
            try:
                if kind != stat.S_IFLNK:
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
                target = os.readlink("", dir_fd=below)
            finally:
                os.close(below)
            links += 1
            if links > _MAX_LINKS:
                raise UnsafeFolder(f"{path}: more than {_MAX_LINKS} symbolic links are on the way to it")
            if target.startswith("/"):
                while len(trail) > 1:
                    os.close(trail.pop())
            names += [part for part in reversed(target.split("/")) if part not in ("", ".")]
        _check(trail[-1], path, may_be_sticky=False)
        return os.open(".", _READ, dir_fd=trail[-1])
    finally:
        for descriptor in trail:
            os.close(descriptor)


def _check(folder: int, path: Path, *, may_be_sticky: bool) -> None:
    found = os.fstat(folder)
    if found.st_uid in _trusted:
        return
    if found.st_uid not in (0, os.geteuid()):
        where = Path(f"/proc/self/fd/{folder}").readlink()
        raise UnsafeFolder(
            f"{path} is not written to: {where} belongs to user {found.st_uid}, who could redirect the "
            f"write; give it to root (chown root {where})"
        )
    open_to = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if open_to and not (may_be_sticky and found.st_mode & stat.S_ISVTX):
        where = Path(f"/proc/self/fd/{folder}").readlink()
        raise UnsafeFolder(
            f"{path} is not written to: others may write in {where} and could redirect the write; "
            f"take that away (chmod go-w {where})"
        )
