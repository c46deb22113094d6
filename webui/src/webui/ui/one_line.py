"""Text of one line, as people paste it."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text with plain spaces, and without invisible characters, such as a zero-width space."""
    return " ".join("".join(one for one in text if one.isprintable() or one.isspace()).split())
