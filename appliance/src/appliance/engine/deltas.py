"""A text encoded by what it shares with another one. Pure.

Successive documents are mostly the same. A delta is a list of operations: ``[start, count]`` copies pieces of
the base, a text stands for itself. A piece ends where an object of the JSON text ends, so each entry of a
table (a route, a neighbor, a rule) is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_END = "},"
_DISTINCT_CHARS = 12
"""Shorter pieces occur many times in a text, so their place says nothing."""

Operation = list[int] | str


def pieces(text: str) -> list[str]:
    """The text cut into pieces; joined they are the text again."""
    parts = text.split(_END)
    return [part + _END for part in parts[:-1]] + [parts[-1]]


def places(base: Sequence[str]) -> dict[str, int]:
    """Where each distinct piece first occurs."""
    return {
        base[index]: index for index in range(len(base) - 1, -1, -1) if len(base[index]) >= _DISTINCT_CHARS
    }


def difference(base: Sequence[str], where: Mapping[str, int], text: str) -> list[Operation]:
    """The operations that make ``text`` from the pieces of ``base``. Takes time linear in its length."""
    wanted = pieces(text)
    operations: list[Operation] = []
    new: list[str] = []
    at = index = 0
    while index < len(wanted):
        piece = wanted[index]
        start = at if at < len(base) and base[at] == piece else where.get(piece, -1)
        if start < 0:
            # Joined later: a text that grows piece by piece is copied each time.
            new.append(piece)
            index += 1
            continue
        if new:
            operations.append("".join(new))
            new = []
        at = start
        while at < len(base) and index < len(wanted) and base[at] == wanted[index]:
            at += 1
            index += 1
        operations.append([start, at - start])
    return [*operations, "".join(new)] if new else operations


def restored(base: Sequence[str], operations: Sequence[Any]) -> str:
    """The text that ``difference`` encoded. Raises ValueError or TypeError for other operations."""
    made: list[str] = []
    for operation in operations:
        if isinstance(operation, str):
            made.append(operation)
            continue
        start, count = operation
        if not 0 <= start <= start + count <= len(base):
            raise ValueError("a delta reaches beyond its base")
        made.extend(base[start : start + count])
    return "".join(made)
