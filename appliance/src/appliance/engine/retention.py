"""Which revisions to forget, so that history never fills the disk. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_HOUR_S = 3600


class Entry(NamedTuple):
    """The facts about a revision that decide whether it is kept."""

    number: int
    time_s: float
    """When it was recorded, Unix time."""
    used_bytes: int
    """Space that forgetting it frees."""


@dataclass(frozen=True)
class Retention:
    """How much is kept. The oldest is forgotten first."""

    newest: int = 2000
    """This many newest revisions are all kept; of older ones the last of each hour."""
    revisions: int = 5000
    """Largest number of revisions."""
    used_bytes: int = 128 << 20
    """Most space on disk, as long as there is more than what must be kept."""

    def forgotten(self, entries: Sequence[Entry], used_bytes: int, needed: Collection[int]) -> list[int]:
        """Numbers to forget; ``entries`` are oldest first, ``needed`` are never forgotten."""
        old, recent = entries[: -self.newest], entries[-self.newest :]
        last_of_hour = {int(entry.time_s // _HOUR_S): entry.number for entry in old}
        thinned = set(last_of_hour.values())
        gone = [entry for entry in old if entry.number not in thinned and entry.number not in needed]
        left = [entry for entry in old if entry.number in thinned or entry.number in needed] + list(recent)
        used_bytes -= sum(entry.used_bytes for entry in gone)
        excess = len(left) - self.revisions
        for entry in left:
            if excess <= 0 and used_bytes <= self.used_bytes:
                break
            if entry.number not in needed:
                gone.append(entry)
                excess -= 1
                used_bytes -= entry.used_bytes
        return [entry.number for entry in gone]
