"""NAT's use of VPP's main heap. Pure.

Measured with VPP 26.06: 7 MB, and 375 bytes for each possible session, all of it from the start. A full table
takes no more.
"""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.vpp_heap import HeapUse
from appliance.features.nat.model import MOST_SESSIONS

_TABLES_BYTES = 8_000_000
_SESSION_BYTES = 400


def heap_uses(config: RouterConfig, workers: int) -> Iterator[HeapUse]:
    """The sessions of each thread that forwards."""
    if config.nat is not None:
        sessions, threads = config.nat.sessions_per_worker or MOST_SESSIONS, max(workers, 1)
        total = sessions * threads
        what = f"NAT (room for {total:,} session{'s'[: total != 1]})"
        yield HeapUse(what, taken_bytes(sessions, threads))


def taken_bytes(sessions: int, threads: int) -> int:
    """The heap for this many sessions on each of this many forwarding threads."""
    return _TABLES_BYTES + sessions * threads * _SESSION_BYTES
