"""Foretells the result of commits on this router, with what it shows now."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from appliance.config.document import RouterConfig
from appliance.dataplane.base import DataPlane
from appliance.engine.own_path import Caller
from appliance.errors import MillraceError
from appliance.impact.analysis import foretell
from appliance.impact.change import BUDGET_S, Arrival, Change
from appliance.impact.cost import NotForwardedByVpp, cost, paid, read_clocks
from appliance.impact.facts import Live, LiveFacts
from appliance.impact.result import Cost, Result
from appliance.routing.view import RoutingView

log = logging.getLogger(__name__)
_READING_S = 1.0
"""What reading the router may take of the budget."""
FindArrival = Callable[[Caller, RouterConfig], Arrival | None]


class Foretelling:
    """A Foretell of a router. Readings share two threads with each other, and none with what commits."""

    def __init__(
        self, dataplane: DataPlane, routing: RoutingView, arrival: FindArrival, budget_s: float = BUDGET_S
    ) -> None:
        self._live, self._arrival, self._budget_s = Live(dataplane, routing), arrival, budget_s
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="foretelling")

    def __call__(
        self, before: RouterConfig, after: RouterConfig, caller: Caller | None, taken_down: frozenset[str]
    ) -> Result:
        """Within the budget; what it did not reach is told."""
        ends_s = time.monotonic() + self._budget_s
        facts = LiveFacts(self._live, self._readers, min(_READING_S, self._budget_s))
        arrival = None if caller is None or before == after else self._arrival(caller, before)
        result = foretell(Change(before, after, facts, arrival, caller is not None, ends_s, taken_down))
        return result.model_copy(update={"cost": self._cost(before, after, ends_s)})

    def _cost(self, before: RouterConfig, after: RouterConfig, ends_s: float) -> Cost | None:
        """None where packets cost what they did, the kernel forwards, or VPP does not tell in time."""
        old, new = list(paid(before)), list(paid(after))
        if old == new:
            return None
        reading = self._readers.submit(read_clocks, self._live.dataplane)
        try:
            return cost(old, new, reading.result(max(ends_s - time.monotonic(), 0)))
        except NotForwardedByVpp:
            return None
        except (TimeoutError, MillraceError) as error:
            reading.cancel()
            log.info("what a packet will cost is not told: %s", str(error) or "no answer in time")
            return None

    def close(self) -> None:
        """Let go of the threads; a reading under way ends by itself."""
        self._readers.shutdown(wait=False, cancel_futures=True)
