"""Numbers of things in sentences: one function, so that none says ``1 rules``."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 rule``, ``1,200 rules``; ``plural`` is for a noun that takes no ``s``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
