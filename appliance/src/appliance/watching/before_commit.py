"""What service is right before a commit, read while the commit observes the router and plans its steps."""

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
"""A commit waits no longer for what was read a moment ago as well."""
WAITS_FIRST_S = 0.25
"""From the start of reading, for what was not: right after the start of the agent, and after a commit."""
_RECENT_S = 15.0
"""A reading is recent for so long, unless another revision came to run since."""
FORETOLD_S = 0.1
"""A commit waits no longer for what is foretold of it; what is late, the report says, was not foretold."""
_PLANNED_S = 10.0
"""What is foretold waits no longer for the plan; a router that takes so long to read is not foretold."""
_PING_S = 0.1


class _Recent(NamedTuple):
    at_s: float
    revision: int
    reading: Reading


class _TakenDown:
    """See engine.foretold: what a commit takes down, which another thread waits for."""

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
    """Reads service before a commit without making it wait: what is late is taken from a recent reading."""

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
        """Keep what was read while this revision ran."""
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
        # Of the commit before, should it never have come to its steps.
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
        """What was read under the document that runs, so that nothing of a commit before is in it."""
        revision, now_s = self._router.engine.revision, self._clock.boot_s()
        return {
            name: one
            for name, one in list(self._recent.items())
            if one.revision == revision and now_s - one.at_s <= _RECENT_S
        }

    def close(self) -> None:
        """Let go of the threads; a reading under way ends by itself."""
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
        # What is not known in time was not foretold: the report says so.
        future.cancel()
        return None
