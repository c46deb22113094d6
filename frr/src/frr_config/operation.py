"""An operational command that acts on a daemon: it changes no configuration, and so has no undo."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """Made by a protocol's own functions only, which check every word of the text."""

    daemon: str
    text: str
