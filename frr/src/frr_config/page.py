"""A part of a long list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Page:
    """Items ``offset`` to ``offset + len(items)`` of a list."""

    items: tuple[dict[str, Any], ...]
    offset: int
    limit: int
    more: bool
    """There are items after these."""
    total: int | None
    """Length of the whole list; None where it was not read to its end."""

    def to_json(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "items": list(self.items),
            "offset": self.offset,
            "limit": self.limit,
            "more": self.more,
            "total": self.total,
        }


def page_of(items: Iterator[dict[str, Any]], offset: int, limit: int) -> Page:
    """A page; reads no further than one item beyond it. Raises ValueError for a negative offset or limit."""
    if offset < 0 or limit < 0:
        raise ValueError("offset and limit cannot be negative")
    kept: list[dict[str, Any]] = []
    seen = 0
    for item in items:
        if seen >= offset + limit:
            return Page(tuple(kept), offset, limit, more=True, total=None)
        if seen >= offset:
            kept.append(item)
        seen += 1
    return Page(tuple(kept), offset, limit, more=False, total=seen)
