"""The output of a command, and the numbers it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from appliance.cli.errors import CommandError


@dataclass(frozen=True)
class Output:
    """The output of a command: ``data`` as JSON, ``shown`` as text."""

    data: Any
    shown: str
    at: tuple[str, ...] | None = None
    """The place of ``data`` in the document; None if it is not part of the document."""


def number(word: str, what: str) -> int:
    """A whole number. Raises CommandError."""
    if not word.isdecimal() or len(word) > 9:
        raise CommandError(f"{what} is a whole number, not {word!r}")
    return int(word)
