"""The service right before a commit, read while the commit observes the router and plans its steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from appliance.config.document import RouterConfig
from appliance.engine.clock import Clock
from appliance.engine.foretold import Foretell
from appliance.engine.own_path import Caller
from appliance.impact.change import NotLookedAt
from appliance.impact.result import Result
from appliance.watching.measure import AnyMeasure, Asked, Reading
from appliance.watching.measures import Begun, Readers, Readings

if TYPE_CHECKING:
    from appliance.agent.router import Router

WAITS_S = 0.02
"""The longest wait of a commit for a reading of which there is a recent earlier one."""
WAITS_FIRST_S = 0.25
"""The same without one, from the start of reading: right after the agent's start, and after a commit."""
_RECENT_S = 15.0
"""A reading is recent for this long, unless another revision began to run since."""
FORETOLD_S = 0.1
"""The longest wait of a commit for the foretelling; the report calls late findings not foretold."""
_PLANNED_S = 10.0
"""The longest wait of the foretelling for the plan; a router that takes longer to read is not foretold."""
_PING_S = 0.1


class _Recent(NamedTuple):
    at_s: float
    revision: int
    reading: Reading


class _TakenDown:
    """See engine.foretold: the interfaces a commit takes down, for which another thread waits."""

    def __init__(self) -> None:
        self._told = threading.Event()
        self._names: frozenset[str] = frozenset()

    def tell(self, names: frozenset[str]) -> None:
        if not self._told.is_set():
            self._names = names
            self._told.set()

    def __call__(self) -> frozenset[str]:
        if not self._told.wait(_PLANNED_S):
            raise NotLookedAt("the steps of the commit were not known in time")
        return self._names


Counted = Callable[[str, float], tuple[Reading, float] | None]
"""A reading of counters from before a time, and how long before."""


class BeforeCommit:
    """See engine.watching.ServiceBefore."""

    def __init__(
        self,
        concerned: Sequence[AnyMeasure],
        read: Callable[[], Begun],
        recent: Mapping[str, _Recent],
        taken_down: _TakenDown,
        foretold: Future[Result],
        counted: Counted,
        clock: Clock,
    ) -> None:
        self._concerned, self._read, self._recent = concerned, read, recent
        self._taken_down, self._foretold = taken_down, foretold
        self._counted, self._clock = counted, clock
        self._begun: Begun | None = None

    def begin(self) -> None:
        """See ServiceBefore."""
        self._begun = self._read()

    def end(self, taken_down: frozenset[str]) -> Mapping[str, Any]:
        """See ServiceBefore."""
        self._taken_down.tell(taken_down)
        begun, recent = self._begun or self._read(), self._recent
        _wait(begun, recent)
        # The time of a reading that has just come.
        now_s = self._clock.boot_s()
        fresh, unanswered = begun.readings(), begun.unanswered
        readings, read_at_s = dict(fresh.found), dict.fromkeys(fresh.found, now_s)
        for name in unanswered & recent.keys():
            readings[name], read_at_s[name] = recent[name].reading, recent[name].at_s
        earlier = {
            one.name: found
            for one in self._concerned
            if one.counts
            and one.name in readings
            and (found := self._counted(one.name, read_at_s[one.name])) is not None
        }
        result = _within(self._foretold, FORETOLD_S)
        return {
            "readings": readings,
            "ages_s": {name: round(now_s - at_s, 1) for name, at_s in read_at_s.items() if at_s < now_s},
            "earlier": earlier,
            "missing": {name: why for name, why in fresh.missing.items() if name not in readings},
            "foretold": None if result is None else result.model_dump(mode="json"),
        }


class BeforeCommits:
    """Reads service before a commit without making it wait: a recent reading replaces a late one."""

    def __init__(
        self, router: Router, foretell: Foretell, measures: Sequence[AnyMeasure], clock: Clock
    ) -> None:
        self._router, self._foretell, self._measures, self._clock = router, foretell, measures, clock
        self._readers = Readers(measures)
        self._foretelling = ThreadPoolExecutor(1, thread_name_prefix="foretold")
        self._taken_down = _TakenDown()
        self._ahead: Begun | None = None
        self._recent: dict[str, _Recent] = {}

    def note(self, readings: Readings, revision: int) -> None:
        """Keep a reading taken while this revision ran."""
        now_s = self._clock.boot_s()
        self._recent.update({name: _Recent(now_s, revision, found) for name, found in readings.found.items()})

    def ahead(self, before: RouterConfig) -> None:
        """See Observer.ahead."""
        first = [one for one in self._measures if one.ahead and one.concerns(before)]
        asked = Asked(self._router, before, before, within_s=_PING_S)
        self._ahead = self._readers.begin(first, {one.name: asked for one in first})

    def begin(
        self, before: RouterConfig, after: RouterConfig, caller: Caller | None, counted: Counted
    ) -> BeforeCommit:
        """See Observer.look."""
        # Left by the commit before, if it never came to its steps.
        self._taken_down.tell(frozenset())
        known = self._taken_down = _TakenDown()
        foretold = self._foretelling.submit(self._foretell, before, after, caller, known)
        ahead, self._ahead = self._ahead, None

        def read() -> Begun:
            return self._readers.begin(concerned, {one.name: asked for one in concerned}, ahead)

        concerned = [one for one in self._measures if one.concerns(before) or one.concerns(after)]
        asked = Asked(self._router, after, before, within_s=_PING_S)
        return BeforeCommit(concerned, read, self._still_recent(), known, foretold, counted, self._clock)

    def _still_recent(self) -> dict[str, _Recent]:
        """A reading taken under the running document, so that it shows nothing of a commit before."""
        revision, now_s = self._router.engine.revision, self._clock.boot_s()
        return {
            name: one
            for name, one in list(self._recent.items())
            if one.revision == revision and now_s - one.at_s <= _RECENT_S
        }

    def close(self) -> None:
        """Release the threads; a reading under way ends on its own."""
        self._readers.close()
        self._taken_down.tell(frozenset())
        self._foretelling.shutdown(wait=False, cancel_futures=True)


def _wait(begun: Begun, recent: Mapping[str, _Recent]) -> None:
    begun.wait(WAITS_S)
    if first := begun.unanswered - recent.keys():
        begun.wait(begun.began_s + WAITS_FIRST_S - time.monotonic(), first)


def _within(future: Future[Result], timeout_s: float) -> Result | None:
    try:
        return future.result(timeout_s)
    except Exception:
        # A finding that is late counts as not foretold: the report says so.
        future.cancel()
        return None
