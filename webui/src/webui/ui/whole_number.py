"""Whole numbers in what a browser sends."""

from __future__ import annotations

_DIGITS = 10
TOO_MANY: int = 10**_DIGITS
"""Out of every range. Python refuses to read thousands of digits."""


def whole(text: str) -> int | None:
    """The number; TOO_MANY for one with more digits than any that is asked for, None for no number."""
    if not (text.isascii() and text.isdecimal()):
        return None
    return int(text) if len(text) <= _DIGITS else TOO_MANY
