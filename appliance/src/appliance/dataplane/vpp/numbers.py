"""Numbers that VPP needs for objects the document names."""

from __future__ import annotations

import zlib
from collections.abc import Iterable


def stable_numbers(names: Iterable[str], limit: int) -> dict[str, int]:
    """A number below ``limit`` for each name, which stays as others come and go, unless two names collide."""
    taken: dict[int, str] = {}
    for name in sorted(names):
        number = zlib.crc32(name.encode()) % limit
        while number in taken:
            number = (number + 1) % limit
        taken[number] = name
    return {name: number for number, name in taken.items()}
