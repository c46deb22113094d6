"""Foretells the result of commits on this router, from its present state."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from appliance.agent.route_table import LongTable
from appliance.config.document import RouterConfig
from appliance.dataplane.base import DataPlane
from appliance.engine.foretold import TakenDown
from appliance.engine.own_path import Caller
from appliance.errors import MillraceError
from appliance.features.vrf.model import table_of
from appliance.impact.analysis import foretell
from appliance.impact.change import BUDGET_S, Arrival, Change
from appliance.impact.cost import NotForwardedByVpp, cost, paid, read_clocks
from appliance.impact.deadline import Deadline
from appliance.impact.facts import Live, LiveFacts
from appliance.impact.result import Cost, Result
from appliance.routing.rows import Family
from appliance.routing.view import RoutingView
from appliance.state.routes import RoutesQuery

log = logging.getLogger(__name__)
_READING_S = 1.0
"""The part of the budget that reading the router may take."""
_PLACES, _IN_A_ROW = 25, 8
"""For a table too long to be listed: places at equal distances, and routes read at each."""
FindArrival = Callable[[Caller, RouterConfig], Arrival | None]


class Foretelling:
    """A Foretell of a router. Its readings share two threads, and none with commits."""

    def __init__(
        self,
        dataplane: DataPlane,
        routing: RoutingView,
        arrival: FindArrival,
        budget_s: float = BUDGET_S,
        table: LongTable | None = None,
    ) -> None:
        self._table = table
        self._live, self._arrival, self._budget_s = Live(dataplane, routing), arrival, budget_s
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="foretelling")

    def __call__(
        self, before: RouterConfig, after: RouterConfig, caller: Caller | None, taken_down: TakenDown
    ) -> Result:
        """Within the budget, not counting the wait for the plan; it says what it did not reach."""
        budget, reading = Deadline(self._budget_s), Deadline(min(_READING_S, self._budget_s))

        def remade() -> frozenset[str]:
            with budget.stopped(), reading.stopped():
                return taken_down()

        live = self._live
        if self._table is not None:
            live = replace(live, samples=partial(_samples, self._table, before))
        facts = LiveFacts(live, self._readers, reading)
        arrival = None if caller is None or before == after else self._arrival(caller, before)
        result = foretell(Change(before, after, facts, arrival, caller is not None, budget, remade))
        return result.model_copy(update={"cost": self._cost(before, after, budget)})

    def _cost(self, before: RouterConfig, after: RouterConfig, budget: Deadline) -> Cost | None:
        """None if the cost of packets is unchanged, the kernel forwards, or VPP does not answer in time."""
        old, new = list(paid(before)), list(paid(after))
        if old == new:
            return None
        reading = self._readers.submit(read_clocks, self._live.dataplane)
        try:
            return cost(old, new, reading.result(budget.left_s))
        except NotForwardedByVpp:
            return None
        except (TimeoutError, MillraceError) as error:
            reading.cancel()
            log.info("the cost of a packet is not foretold: %s", str(error) or "no answer in time")
            return None

    def close(self) -> None:
        """Release the threads; a reading under way ends on its own."""
        self._readers.shutdown(wait=False, cancel_futures=True)


def _samples(table: LongTable, config: RouterConfig, family: Family, vrf: str) -> Sequence[str]:
    """See Samples: a page takes the feeder some milliseconds, wherever in the table it lies."""
    if vrf and vrf not in config.vrfs:
        # FRR has it, but no document gives the number of its table.
        return ()
    number = table_of(vrf, config.vrfs[vrf]) if vrf else 0
    query = RoutesQuery(protocol="bgp", family=family)
    first = table.route_page(family, query, 0, _IN_A_ROW, number)
    step = max(first.total // _PLACES, _IN_A_ROW)
    later = [
        table.route_page(family, query, at * step, _IN_A_ROW, number)
        for at in range(1, _PLACES)
        if at * step < first.total
    ]
    return list(dict.fromkeys(row.prefix for page in (first, *later) for row in page.rows))
