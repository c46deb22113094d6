"""The index of BGP routes on the appliance: where it answers, and how much it may hold."""

from __future__ import annotations

from pathlib import Path

from appliance.engine import durable

SOCKET = Path("/run/millrace/bgp-index/index.sock")
"""In a folder of its own, which is its user's."""
MARK = Path("/run/millrace/bgp-index.env")
"""The environment of millrace-bgp-index.service, which does not start without it."""
MEMORY_SHARE = 0.25
"""Of the machine's memory: the unit's limit, above which the kernel ends it."""
_MOST_MIB = 512
"""On any machine: four million routes, which are all that it holds, take less unless attributes are long."""
_COUNTED = 0.6
"""The part of that limit that it counts itself: growing lists exist twice for a moment."""


def most_mib(memory_mb: int) -> int:
    """Such that it reports too many routes before the kernel ends it."""
    return max(1, min(_MOST_MIB, int(memory_mb * MEMORY_SHARE * _COUNTED)))


def announce(memory_mb: int, mark: Path = MARK) -> None:
    """Let it start."""
    durable.write(mark, f"MOST_MIB={most_mib(memory_mb)}\n".encode(), 0o644)
