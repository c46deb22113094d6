"""Natural order: numbers in a text compare as numbers."""

from __future__ import annotations

import re
from typing import Any

SortKey = tuple[Any, ...]

_DIGITS = re.compile(r"(\d+)")


def natural(text: str) -> SortKey:
    """A sort key under which ``seq 5`` comes before ``seq 10``."""
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in _DIGITS.split(text) if part)
