"""Lists of BGP's table: read only where it is short, seldom, and once for all who ask.

bgpd has one thread. For any list it walks its whole table: 2 s for 1,000,000 routes before a line is written,
in which it reads no update and sends no keepalive.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from appliance.routing.rows import Family
from appliance.routing.view import RoutingView
from appliance.routing.walks import Walks
from frr_config.protocols.bgp.routes import BgpEntry, BgpPath, TableSize, kept, table
from frr_config.types import IpAddress, IpNetwork

LISTED = 10_000
"""Routes of a family up to which they are listed: some 0.4 s of bgpd's time."""
_SENT = 10 * LISTED
"""Prefixes sent, each neighbor counted, up to which bgpd's list of who is sent what stays short."""
_REUSED = 10
"""A list stands for so many times the duration of its reading."""
_KEPT = 4
"""Lists in memory."""


@dataclass(frozen=True)
class TableList:
    """The table of a family, and what one neighbor sent of it."""

    entries: tuple[BgpEntry, ...] = ()
    kept: tuple[tuple[IpNetwork, BgpPath], ...] = ()
    note: str = ""
    """Why nothing was read; empty where it was."""
    read_s: float = 0.0
    took_s: float = 0.0
    age_s: float = 0.0


def too_long(size: TableSize) -> str:
    """Why a table of this size is not listed; empty where it is."""
    if size.nodes <= 2 * LISTED and size.received <= LISTED and size.sent <= _SENT:
        return ""
    routes = max(size.nodes // 2, size.received)
    return (
        f"BGP's table has about {routes:,} routes, of which {size.received:,} were received, and lists are "
        f"shown of up to {LISTED:,}: FRR would do nothing else while it wrote one. Ask for a prefix or an "
        "address."
    )


class TableLists:
    """Reads lists by ``routing``. Thread-safe: who asks during a reading waits for it."""

    def __init__(self, routing: RoutingView, clock: Callable[[], float] = time.monotonic) -> None:
        self._routing, self._clock = routing, clock
        self._walks = Walks(clock)
        self._lists: dict[tuple[Family, IpAddress | None], TableList] = {}
        self._lock = threading.Lock()

    def read(self, family: Family, keeper: IpAddress | None) -> TableList:
        """The list, with what ``keeper`` sent where one is named, at most so old that reading lists takes
        bgpd a twentieth of its time. Raises BackendUnavailable.
        """
        with self._lock:
            key = (family, keeper)
            known = self._lists.get(key)
            if known is not None and self._clock() - known.read_s <= known.took_s * _REUSED:
                return self._aged(known)
            wait_s = self._walks.wait_s()
            if wait_s > 0:
                return TableList(note=_resting(wait_s)) if known is None else self._aged(known)
            return self._keep(key, self._walked(family, keeper))

    def _walked(self, family: Family, keeper: IpAddress | None) -> TableList:
        begun_s = self._clock()
        try:
            # First what was sent: a route that comes in between is accepted, and not taken for a refused one.
            sent = () if keeper is None else self._routing.ask(lambda frr: tuple(kept(frr, family, keeper)))
            entries = self._routing.ask(lambda frr: tuple(table(frr, family)))
        finally:
            took_s = self._clock() - begun_s
            self._walks.spend(took_s)
        return TableList(entries, sent, read_s=self._clock(), took_s=took_s)

    def _aged(self, known: TableList) -> TableList:
        age_s = max(0.0, self._clock() - known.read_s)
        return TableList(known.entries, known.kept, "", known.read_s, known.took_s, age_s)

    def _keep(self, key: tuple[Family, IpAddress | None], listed: TableList) -> TableList:
        self._lists.pop(key, None)
        self._lists[key] = listed
        while len(self._lists) > _KEPT:
            del self._lists[next(iter(self._lists))]
        return listed


def _resting(wait_s: float) -> str:
    return (
        "The list was not read: each reading keeps FRR from its updates, and it was read often just now. "
        f"Ask again in {max(1, round(wait_s))} s, or for a prefix or an address."
    )


_OF: WeakKeyDictionary[RoutingView, TableLists] = WeakKeyDictionary()
_GUARD = threading.Lock()


def lists_of(routing: RoutingView) -> TableLists:
    """The one reader of this router's lists."""
    with _GUARD:
        if routing not in _OF:
            _OF[routing] = TableLists(routing)
        return _OF[routing]
