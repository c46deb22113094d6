"""Whether packets go where FRR sends them: compares RIB, kernel and FIB, some routes at a time, endlessly.

A difference counts once it is seen repeatedly: while routes come and go the tables differ for moments. If the
feeder carries the routes, it then gives them to VPP again; it also compares everything it gave VPP on its
own. A table too long for zebra to list is sampled by random addresses.
"""

from __future__ import annotations

import logging
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from appliance.agent import route_table
from appliance.agent.route_lists import RouteLists
from appliance.dataplane.base import DataPlane
from appliance.engine.backend import BackendUnavailable
from appliance.routing.rows import FAMILIES, Family, RibRow
from appliance.routing.view import RoutingView
from appliance.state.routes import RoutesQuery, RouteState

log = logging.getLogger(__name__)

PORTION = 200
"""How many routes are compared in one look."""
BELIEVED = 3
"""How many looks in a row must see a difference."""
MOST_SUSPECTS = 64
"""How many routes are compared again at every look."""
ROUND_S = 60.0
"""The shortest time from one list of zebra to the next."""
LINK_LOCAL = "fe80::"
_REST = 1000
"""After a list, the pause is this many times its duration."""
_DRAWN = 64
"""How many random addresses a round draws from a table that is not listed."""
_FIRST, _LAST = int(IPv4Address("1.0.0.0")), int(IPv4Address("223.255.255.255"))


@dataclass(frozen=True)
class Proof:
    """The present knowledge."""

    differing: Mapping[str, str] = field(default_factory=dict)
    """Prefix to a sentence on what is wrong."""
    told_again: bool = False
    """The feeder gives them to VPP again, every few looks while they differ."""


class RouteProof:
    """Compares a portion at each look. One thread looks; any thread may report a suspicion."""

    def __init__(
        self,
        dataplane: DataPlane,
        routing: RoutingView,
        clock: Callable[[], float] = time.monotonic,
        drawing: random.Random | None = None,
        tell_again: Callable[[str], bool] | None = None,
        doubtful: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """``doubtful`` names routes that the feeder found to differ; it may raise BackendUnavailable."""
        self._dataplane, self._routing, self._clock = dataplane, routing, clock
        self._drawing = drawing or random.Random()
        self._tell_again, self._doubtful = tell_again, doubtful
        self._lists = RouteLists(routing, clock)
        self._due: deque[RibRow | str] = deque()
        self._families: deque[Family] = deque()
        """Routes of this round, not read yet."""
        self._next_s = 0.0
        self._suspected: deque[str] = deque(maxlen=MOST_SUSPECTS)
        self._seen: dict[str, int] = {}
        """Prefix to the number of successive looks that saw it differ."""

    def suspect(self, prefix: str) -> None:
        """Another reader saw it differ: the next look begins with it."""
        self._suspected.append(prefix)

    def look(self) -> Proof:
        """Compare the next portion and all routes that differed before. Raises BackendUnavailable."""
        with suppress(BackendUnavailable):  # of the feeder, whose absence is an alarm of its own
            for prefix in self._doubtful():
                self.suspect(prefix)
        if not self._due:
            self._refill()
        portion: list[RibRow | str] = [self._suspected.popleft() for _ in range(len(self._suspected))]
        portion += [self._due.popleft() for _ in range(min(PORTION, len(self._due)))]
        again = {prefix: self._fresh(prefix) for prefix in self._seen}
        found = {prefix: state for prefix, state in again.items() if state is not None}
        for one in self._differing(portion):
            if len(found) < MOST_SUSPECTS:
                found.setdefault(one.prefix, one)
        self._seen = {prefix: self._seen.get(prefix, 0) + 1 for prefix in found}
        believed = {prefix: found[prefix] for prefix, looks in self._seen.items() if looks >= BELIEVED}
        self._heal([state for prefix, state in believed.items() if self._seen[prefix] % BELIEVED == 0])
        return Proof(
            {prefix: state.disagreement for prefix, state in believed.items()},
            told_again=self._tell_again is not None,
        )

    def _heal(self, differing: list[RouteState]) -> None:
        # A feeder that is down gives everything again when it is back, and has an alarm of its own.
        if self._tell_again is not None:
            with suppress(BackendUnavailable):
                for state in differing:
                    if self._tell_again(state.prefix):
                        log.warning("VPP is told of %s again: %s", state.prefix, state.disagreement)

    def _refill(self) -> None:
        """One family at a time: zebra has a pause between two lists."""
        if not self._families and self._clock() >= self._next_s:
            self._families.extend(FAMILIES)
        if not self._families:
            return
        family, began_s = self._families.popleft(), self._clock()
        rows = self._lists.read(family, None).rows
        if rows is not None:
            # VPP keeps a separate link-local network for each interface.
            self._due.extend(row for row in rows if not row.prefix.startswith(LINK_LOCAL))
        elif family == "ipv4":
            self._due.extend(str(IPv4Address(self._drawing.randint(_FIRST, _LAST))) for _ in range(_DRAWN))
        now_s = self._clock()
        self._next_s = max(self._next_s, now_s + max(ROUND_S, (now_s - began_s) * _REST))

    def _differing(self, portion: list[RibRow | str]) -> list[RouteState]:
        """Listed routes that differ, and still do when FRR is asked again; for addresses, their routes."""
        rows = [one for one in portion if isinstance(one, RibRow)]
        states = route_table.compared(self._dataplane, rows)
        suspects = [state.prefix for state in states if state.disagreement]
        suspects += [one for one in portion if isinstance(one, str)]
        fresh = map(self._fresh, suspects[: PORTION // 2])
        return [state for state in fresh if state is not None]

    def _fresh(self, destination: str) -> RouteState | None:
        """The route if it differs now; None if it does not, or FRR has none."""
        answer = route_table.route(RoutesQuery(prefix=destination), self._dataplane, self._routing)
        return next((one for one in answer.routes if one.disagreement and one.protocol), None)
