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
_ROUTE_BYTES = 320
"""More than it takes for a route, with its share of attributes and of what the allocator keeps."""
_MOST_ROUTES = 4_000_000
"""On any machine: a full table from each of three neighbors, and more."""


def most_routes(memory_mb: int) -> int:
    """So many that it says they are too many before the kernel ends it."""
    return min(_MOST_ROUTES, int(memory_mb * (1 << 20) * MEMORY_SHARE) // _ROUTE_BYTES)


def announce(memory_mb: int, mark: Path = MARK) -> None:
    """Let it start."""
    durable.write(mark, f"MOST_ROUTES={most_routes(memory_mb)}\n".encode(), 0o644)
