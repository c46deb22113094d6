"""An operational command that acts on a daemon. It changes no configuration and therefore has no undo."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """Made only by functions of a protocol, which check every word of the text."""

    daemon: str
    text: str
