"""What a command says, and the numbers it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from appliance.cli.errors import CommandError


@dataclass(frozen=True)
class Output:
    """What a command says: ``data`` as JSON, ``shown`` for people."""

    data: Any
    shown: str
    at: tuple[str, ...] | None = None
    """Where ``data`` stands in the document; None for what is no part of it."""


def number(word: str, what: str) -> int:
    """A whole number. Raises CommandError."""
    if not word.isdecimal() or len(word) > 9:
        raise CommandError(f"{what} is a whole number, not {word!r}")
    return int(word)
