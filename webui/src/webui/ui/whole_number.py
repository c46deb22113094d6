"""Whole numbers in a browser's input."""

from __future__ import annotations

_DIGITS = 10
TOO_MANY: int = 10**_DIGITS
"""Out of every range. Python refuses to parse thousands of digits."""


def whole(text: str) -> int | None:
    """The number; TOO_MANY for one with more digits than any valid one, None for any other text."""
    if not (text.isascii() and text.isdecimal()):
        return None
    return int(text) if len(text) <= _DIGITS else TOO_MANY
