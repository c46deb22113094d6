"""Lists of routes: read rarely, only while the table is short, and once for all callers.

zebra has one thread. For a list or a count it walks its whole table, and reads no routing update until it has
written the result: half a second for the count of 1,000,000 routes, half a minute for their list.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from appliance.routing.rows import Family, RibRow
from appliance.routing.view import RoutingView
from appliance.routing.walks import Walks
from appliance.state.routes import RouteCount

LISTED = 10_000
"""The most routes of a family, or of one of its protocols, that are listed: some 0.3 s of zebra's time."""
_REUSED = 10
"""A list is valid for this many times the duration of its reading."""
_KEPT = 4
"""Number of lists in memory, of at most twice ``LISTED`` prefixes each."""
_WORDS = {"ipv4": "IPv4", "ipv6": "IPv6"}


@dataclass(frozen=True)
class RouteList:
    """The selected routes of a family, or of one of its protocols."""

    rows: Sequence[RibRow] | None
    """None: they were not listed, and ``note`` says why."""
    counts: Mapping[str, RouteCount] = field(default_factory=dict)
    """By protocol, of the whole family."""
    count: int = 0
    """Number of routes, listed or not."""
    note: str = ""
    read_s: float = 0.0
    """When it was read, by the clock of the reader."""
    took_s: float = 0.0


_Key = tuple[str, Family, str | None]


class RouteLists:
    """Reads lists by ``routing``. Not thread-safe: one thread reads."""

    def __init__(self, routing: RoutingView, clock: Callable[[], float] = time.monotonic) -> None:
        self._routing, self._clock = routing, clock
        self._walks = Walks(clock)
        self._kept: dict[_Key, RouteList] = {}

    def age_s(self, listed: RouteList) -> float:
        """Seconds since the list was read."""
        return max(0.0, self._clock() - listed.read_s)

    def read(self, family: Family, protocol: str | None, vrf: str = "") -> RouteList:
        """The list of a VRF, of such an age that reading lists takes at most a twentieth of zebra's time.
        Raises BackendUnavailable.
        """
        key = (vrf, family, protocol)
        kept = self._kept.get(key)
        if kept is not None and self.age_s(kept) <= kept.took_s * _REUSED:
            return kept
        wait_s = self._walks.wait_s()
        if wait_s > 0:
            return kept or RouteList(None, note=_resting(wait_s), read_s=self._clock())
        begun_s = self._clock()
        try:
            listed = self._walk(*key)
        finally:
            took_s = self._clock() - begun_s
            self._walks.spend(took_s)
        listed = replace(listed, read_s=self._clock(), took_s=took_s)
        if protocol is None or protocol in listed.counts:
            self._keep(key, listed)
        return listed

    def _walk(self, vrf: str, family: Family, protocol: str | None) -> RouteList:
        """The count is read right before the list: a table may grow by a million routes in half a minute."""
        routing = self._routing.in_vrf(vrf)
        counts = routing.rib_counts(family)
        if protocol is None:
            count = sum(known.rib for known in counts.values())
        else:
            count = counts[protocol].rib if protocol in counts else 0
        rows: Sequence[RibRow] | None = ()
        if count:
            rows = routing.rib_list(family, protocol, 2 * LISTED) if count <= LISTED else None
        if rows is None:
            return RouteList(None, counts, count, _too_many(family, protocol, count))
        return RouteList([row for row in rows if row.selected], counts, count)

    def _keep(self, key: _Key, listed: RouteList) -> None:
        self._kept.pop(key, None)
        self._kept[key] = listed
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]


def _too_many(family: Family, protocol: str | None, count: int) -> str:
    whose = f"There are {count:,} {_WORDS[family]} routes" + (f" of {protocol}" if protocol else "")
    other = "" if protocol else ", or for the list of a protocol that has fewer"
    return f"{whose}; only lists of up to {LISTED:,} are shown. Ask for a prefix or an address{other}."


def _resting(wait_s: float) -> str:
    return (
        "The list was not read: each reading delays FRR's updates, and it was read often just now. "
        f"Ask again in {max(1, round(wait_s))} s, or for a prefix or an address."
    )
