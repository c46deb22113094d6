"""The parent's information about the children, in memory that all of them share."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass

_ENTRY = struct.Struct("=iIq")


@dataclass(frozen=True)
class Standing:
    """The state of a child."""

    pid: int = 0
    """0 while it waits for its next start."""
    in_a_row: int = 0
    """How many times it ended soon after its start, without a steady run in between."""
    exit_code: int = 0
    """The exit code of its last end; negative is the signal that ended it."""


class Board:
    """One place for each part. The parent writes; a child reads the current content."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places = {name: number * _ENTRY.size for number, name in enumerate(names)}
        self._memory = mmap.mmap(-1, max(1, len(names)) * _ENTRY.size)

    def write(self, name: str, standing: Standing) -> None:
        """Replaces the content."""
        _ENTRY.pack_into(
            self._memory, self._places[name], standing.pid, standing.in_a_row, standing.exit_code
        )

    def read(self) -> dict[str, Standing]:
        """The states of all parts."""
        return {name: Standing(*_ENTRY.unpack_from(self._memory, at)) for name, at in self._places.items()}


board: Board | None = None
"""The board of this web half, in the parent and its children; None in any other process."""
