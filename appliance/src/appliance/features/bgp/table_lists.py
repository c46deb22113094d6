"""Lists of BGP's table: read rarely, only while it is short, and once for all callers.

bgpd has one thread. For any list it walks its whole table: for 1,000,000 routes that takes 2 s before a line
is written, during which it reads no update and sends no keepalive.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from appliance.routing.rows import Family
from appliance.routing.seldom import Seen, Seldom
from appliance.routing.view import VrfRoutingView
from frr_config.protocols.bgp.routes import BgpEntry, BgpPath, TableSize, kept, table
from frr_config.types import IpAddress, IpNetwork

LISTED = 10_000
"""The most routes of a family that are listed: some 0.4 s of bgpd's time."""
_SENT = 10 * LISTED
"""The most prefixes sent, counting each neighbor, for which bgpd's list of who is sent what is short."""


@dataclass(frozen=True)
class TableList:
    """The table of a family, and the part one neighbor sent."""

    entries: tuple[BgpEntry, ...] = ()
    kept: tuple[tuple[IpNetwork, BgpPath], ...] = ()


def too_long(size: TableSize) -> str:
    """Why a table of this size is not listed; empty if it is."""
    if size.nodes <= 2 * LISTED and size.received <= LISTED and size.sent <= _SENT:
        return ""
    return (
        f"BGP's table is too long for a list: {size.received:,} routes are received from all neighbors, and "
        f"{size.sent:,} sent to them. Only lists of up to {LISTED:,} routes are shown, because FRR does "
        "nothing else while it writes one. Ask for a prefix or an address."
    )


class TableLists:
    """Reads lists by ``routing``."""

    def __init__(self, routing: VrfRoutingView) -> None:
        self._routing = routing
        self._seldom: Seldom[TableList] = Seldom()

    def read(self, family: Family, keeper: IpAddress | None) -> Seen[TableList]:
        """The list, with what ``keeper`` sent if one is named. Raises BackendUnavailable."""
        return self._seldom.read((family, keeper), lambda: self._walked(family, keeper))

    def _walked(self, family: Family, keeper: IpAddress | None) -> TableList:
        # First what was sent: a route that arrives in between is then accepted, not taken for a refused one.
        sent = () if keeper is None else self._routing.ask(lambda frr: tuple(kept(frr, family, keeper)))
        return TableList(self._routing.ask(lambda frr: tuple(table(frr, family))), sent)


_OF: WeakKeyDictionary[VrfRoutingView, TableLists] = WeakKeyDictionary()
_GUARD = threading.Lock()


def lists_of(routing: VrfRoutingView) -> TableLists:
    """The single reader of this router's lists."""
    with _GUARD:
        if routing not in _OF:
            _OF[routing] = TableLists(routing)
        return _OF[routing]
