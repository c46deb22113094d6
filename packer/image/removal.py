"""Deletes the folders of a build as root, but never through a mount below one of them."""

from __future__ import annotations

import shutil
from pathlib import Path

from packer.image.errors import BuildError

_MOUNTS = Path("/proc/self/mountinfo")
_MOUNT_POINT = 4
"""Field of a line of mountinfo (proc(5))."""


def remove_tree(folder: Path, mounts: Path = _MOUNTS) -> None:
    """Delete ``folder`` and its content; no error if it does not exist.

    Raises BuildError, with nothing deleted, while something is mounted there: a killed bootstrap may have
    left the machine's own /dev below its tree.
    """
    if not folder.exists():
        return
    place = folder.resolve()
    points = (line.split(" ")[_MOUNT_POINT] for line in mounts.read_text().splitlines())
    below = sorted(point for point in points if Path(_unescaped(point)).is_relative_to(place))
    if below:
        raise BuildError(f"{folder} is not deleted: mounted there: {', '.join(below)}; unmount it first")
    shutil.rmtree(folder)


def _unescaped(point: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, character)
    return point
