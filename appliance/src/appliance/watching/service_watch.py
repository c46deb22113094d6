"""Watches sessions and traffic after each commit: one thread, reading once a second while it watches."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from appliance.config.document import RouterConfig
from appliance.engine.clock import Clock, SystemClock
from appliance.engine.foretold import Foretell
from appliance.engine.own_path import Caller
from appliance.engine.records import timestamp
from appliance.engine.watching import ServiceBefore, Watch
from appliance.impact.result import Result
from appliance.state.watch import WatchReport, WatchState
from appliance.watching.aftermath import Aftermath
from appliance.watching.before_commit import BeforeCommits
from appliance.watching.judgement import MOST, Before, Judgement
from appliance.watching.measure import AnyMeasure, Asked, Reading
from appliance.watching.measures import Readers, Readings, every_measure

if TYPE_CHECKING:
    from appliance.agent.router import Router

log = logging.getLogger(__name__)

PERIOD_S = 1.0
"""Interval of looks while a commit is watched, unless a look takes long."""
FIRST_LOOK_S = 0.3
"""From a commit to the first look after it: by then its caller has the answer, and looks do not delay
successive commits."""
_AT_REST = 4
"""After a look, the pause is this many times its duration: at most a fifth of a CPU."""
_LONGEST_REST_S = 10.0
_ANSWER_S = 2.0
"""Measures not read by then are missing from this look."""
READ_EVERY_S = 10.0
"""How often everything is read while nothing is watched."""
_EARLIER_S = 4.0
_OLDEST_S = 60.0
_AGAIN_S = 10.0
"""A watch interrupted by the agent's death goes on for at least this long."""
_ALARMS_FOR_S = 3600.0
_MOST_FOLLOWED = 3
"""Revisions after which something is still worse, each looked at separately."""
_PING_S = 0.8


@dataclass
class _Active:
    """The watch under way."""

    watch: Watch
    judgement: Judgement
    foretold: Result | None
    ends_boot_s: float


class ServiceWatch:
    """The Observer of a router. Its answers never wait."""

    def __init__(
        self,
        router: Router,
        foretell: Foretell,
        measures: Sequence[AnyMeasure] | None = None,
        clock: Clock | None = None,
        period_s: float = PERIOD_S,
    ) -> None:
        self._router, self._period_s = router, period_s
        self._measures = every_measure() if measures is None else tuple(measures)
        self._clock = clock or SystemClock()
        self._watches = router.engine.watched.watches
        self._readers, self._idle_readers = Readers(self._measures), Readers(self._measures)
        self._idle = ThreadPoolExecutor(1, thread_name_prefix="watch-idle")
        self._reading: Future[None] | None = None
        self._before = BeforeCommits(router, foretell, self._measures, self._clock)
        self._counted: deque[tuple[float, Mapping[str, Reading]]] = deque(maxlen=8)
        self._active: _Active | None = None
        self._aftermaths: dict[int, Aftermath] = {}
        """Watches that ended with something worse, by revision; kept while later revisions run."""
        self._begun: deque[Watch] = deque(maxlen=64)
        """Watches without a look so far: another commit may come before it."""
        self._reports: dict[int, WatchReport] = {}
        """The newest, by revision."""
        self._looking = threading.Lock()
        self._wake, self._ended, self._stop = threading.Event(), threading.Event(), False
        self._thread: threading.Thread | None = None
        router.engine.watched.observer = self

    def start(self) -> None:
        """Watch until ``stop``."""
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 5) -> None:
        """Stop watching; the next agent resumes a watch under way."""
        self._stop = True
        self._ended.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout_s)
        self._readers.close()
        self._idle_readers.close()
        self._idle.shutdown(wait=False, cancel_futures=True)
        self._before.close()

    # The engine's side.

    def ahead(self, before: RouterConfig) -> None:
        """See Observer."""
        self._before.ahead(before)

    def look(self, before: RouterConfig, after: RouterConfig, caller: Caller | None) -> ServiceBefore:
        """See Observer."""
        return self._before.begin(before, after, caller, self._counted_before)

    def begun(self) -> None:
        """See Observer."""
        if (watch := self._watches.current) is not None:
            self._begun.append(watch)
        self._wake.set()

    def report(self, revision: int) -> dict[str, Any] | None:
        """What is known so far of the watch of a revision."""
        known = self._reports.get(revision)
        if known is not None:
            return known.model_dump(mode="json")
        kept = self._watches.report(revision)
        if kept is None and (watch := self._not_looked_at(revision)) is not None:
            return self._report_of(self._prepared(watch), "watching", watch.note).model_dump(mode="json")
        return kept

    def _not_looked_at(self, revision: int) -> Watch | None:
        """The watch of a commit made a moment ago."""
        watches = (self._watches.current, *self._begun.copy())
        return next((one for one in watches if one is not None and one.revision == revision), None)

    def rules(self) -> dict[str, str]:
        """See Observer."""
        return {one.name: one.rule for one in self._measures}

    def told(self) -> tuple[WatchReport, ...]:
        """The report of the running revision, of one rolled back because of its watch, and of those after
        which something is still worse; for an hour."""
        watch, aftermaths, reports = self._watches.current, dict(self._aftermaths), self._reports
        told: dict[int, WatchReport] = {}
        if watch is not None and self._clock.boot_s() - watch.ends_boot_s <= _ALARMS_FOR_S:
            for number in (watch.revision, watch.revision - 1):
                # The outcome of one that ended long ago is no longer known.
                if number in reports and (number == watch.revision or reports[number].state != "worse"):
                    told[number] = reports[number]
        told |= {number: one.of(reports[number]) for number, one in aftermaths.items() if number in reports}
        return tuple(told.values())

    # Watching.

    def tick(self) -> None:
        """Look once, if there is something to watch. Raises nothing."""
        with self._looking:
            try:
                self._tick()
            except Exception:
                log.exception("the watch failed")

    def _tick(self) -> None:
        watch, active = self._watches.current, self._active
        if active is not None and (watch is None or watch.revision != active.watch.revision):
            # A condemned revision already has its report.
            if not active.watch.over:
                self._tell(active, "superseded", active.watch.note)
            self._active = active = None
        while self._begun:
            begun = self._begun.popleft()
            if watch is None or begun.revision != watch.revision:
                self._tell(self._prepared(begun), "superseded", begun.note)
        if watch is None or watch.over:
            self._active = None
            return
        if active is None:
            active = self._active = self._begin(watch)
        active.watch = watch
        self._look(watch.revision, active.judgement)
        now_s = self._clock.boot_s()
        at_the_end = now_s >= active.ends_boot_s
        worse = active.judgement.lasting(now_s, at_the_end)
        if worse and watch.rolls_back and self._watches.condemn(watch.revision, worse[0].text):
            log.warning("sessions or traffic got worse after revision %s: %s", watch.revision, worse[0].text)
            self._end(active, "rolled_back", watch.note)
        elif at_the_end:
            self._end(active, "worse" if worse else "as_before", watch.note)
            self._watches.end(watch.revision)
        else:
            self._tell(active, "watching", watch.note, kept=False)

    def _begin(self, watch: Watch) -> _Active:
        active = self._prepared(watch)
        self._tell(active, "watching", watch.note)
        return active

    def _prepared(self, watch: Watch) -> _Active:
        before = watch.before
        try:
            foretold = None if before.get("foretold") is None else Result.model_validate(before["foretold"])
        except ValidationError:
            foretold = None
        earlier = {name: (found[0], float(found[1])) for name, found in before.get("earlier", {}).items()}
        judgement = Judgement(
            self._measures,
            Before(before.get("readings", {}), earlier, before.get("missing", {}), before.get("ages_s", {})),
            self._router.engine.running_config,
            foretold,
        )
        ends_boot_s = watch.ends_boot_s
        # The agent was away: a worsening must be seen for some seconds first.
        if self._clock.boot_s() - watch.began_boot_s > _AGAIN_S:
            ends_boot_s = max(ends_boot_s, self._clock.boot_s() + _AGAIN_S)
        return _Active(watch, judgement, foretold, ends_boot_s)

    def _look(self, revision: int, judgement: Judgement) -> bool:
        """Whether the look was at this revision, and it still runs."""
        config = self._router.engine.running_config
        asked = {
            one.name: Asked(self._router, config, first=judgement.first(one), within_s=_PING_S)
            for one in judgement.measures
        }
        readings = self._readers.read(judgement.measures, asked, _ANSWER_S)
        # A reading taken while the running revision changed belongs to neither.
        if self._router.engine.revision != revision:
            return False
        judgement.take(readings, self._clock.boot_s())
        self._keep_counted(readings)
        self._before.note(readings, revision)
        return True

    def _end(self, active: _Active, state: WatchState, note: str) -> None:
        self._tell(active, state, note)
        self._active = None
        if state == "worse":
            self._go_on_with(self._reports[active.watch.revision], active.judgement, active.ends_boot_s)

    def _go_on_with(self, report: WatchReport, judgement: Judgement, ended_boot_s: float) -> None:
        going_on = {**self._aftermaths, report.revision: Aftermath(report, judgement, ended_boot_s)}
        self._aftermaths = {number: going_on[number] for number in sorted(going_on)[-_MOST_FOLLOWED:]}

    def follow(self) -> None:
        """Look whether what was worse at the end of watches is as before now. Raises nothing."""
        with self._looking:
            for number, aftermath in list(self._aftermaths.items()):
                try:
                    self._follow(number, aftermath)
                except Exception:
                    log.exception("looking again at service after revision %s failed", number)

    def _follow(self, number: int, aftermath: Aftermath) -> None:
        if self._clock.boot_s() - aftermath.ended_boot_s > _ALARMS_FOR_S:
            del self._aftermaths[number]
            return
        engine, judgement = self._router.engine, aftermath.judgement
        revision = engine.revision
        # This commit did not cause what a later one asked for.
        judgement.judge_by(engine.running_config)
        if self._look(revision, judgement) and aftermath.seen(self._clock.boot_s()):
            self._mended(number)

    def _mended(self, revision: int) -> None:
        since = timestamp(self._clock.unix_s())
        report = self._reports[revision].model_copy(update={"as_before_since": since})
        self._know(report)
        self._watches.keep(revision, report.model_dump(mode="json"))
        del self._aftermaths[revision]

    def _tell(self, active: _Active, state: WatchState, note: str, kept: bool = True) -> None:
        report = self._report_of(active, state, note)
        self._know(report)
        if kept:
            final = state not in ("watching", "superseded")
            self._watches.keep(report.revision, report.model_dump(mode="json"), final=final)

    def _report_of(self, active: _Active, state: WatchState, note: str) -> WatchReport:
        watch, judgement, now_s = active.watch, active.judgement, self._clock.boot_s()
        standing, passed = judgement.standing(now_s), judgement.passed()
        return watch.report(
            state,
            left_s=round(max(0.0, active.ends_boot_s - now_s), 1) if state == "watching" else 0.0,
            measured=judgement.measured(),
            not_compared=judgement.not_compared(),
            worsenings=tuple(standing[:MOST]),
            left_off=max(0, len(standing) - MOST),
            passing=tuple(passed[:MOST]),
            foretold=active.foretold,
            not_seen=() if state in ("watching", "superseded") else judgement.not_seen(),
            rolled_back_to=watch.rollback_to if state == "rolled_back" else None,
            note=note,
        )

    def _know(self, report: WatchReport) -> None:
        newest = {**self._reports, report.revision: report}
        kept = self._aftermaths.keys() | set(sorted(newest)[-3:])
        self._reports = {number: newest[number] for number in sorted(kept)}

    # Between commits.

    def _keep_counted(self, readings: Readings) -> None:
        now_s = self._clock.boot_s()
        if not self._counted or now_s - self._counted[-1][0] >= _EARLIER_S:
            names = {one.name for one in self._measures if one.counts}
            self._counted.append(
                (now_s, {name: readings.found[name] for name in names & readings.found.keys()})
            )

    def _counted_before(self, name: str, now_s: float) -> tuple[Reading, float] | None:
        for at_s, found in reversed(list(self._counted)):
            if name in found and _EARLIER_S <= now_s - at_s <= _OLDEST_S:
                return found[name], now_s - at_s
        return None

    def read_all(self) -> None:
        """Read everything that is compared: for rates before a commit, and to replace readings that are late
        right before it. Raises nothing."""
        engine = self._router.engine
        revision, config = engine.revision, engine.running_config
        concerned = [one for one in self._measures if one.concerns(config)]
        asked = Asked(self._router, config, within_s=_PING_S)
        readings = self._idle_readers.read(concerned, {one.name: asked for one in concerned}, _ANSWER_S)
        self._keep_counted(readings)
        if engine.revision == revision:
            self._before.note(readings, revision)

    def _begin_to_read(self) -> None:
        """In a thread of its own: a hanging source must not delay the first look after a commit."""
        if self._reading is None or self._reading.done():
            self._reading = self._idle.submit(self.read_all)

    def _run(self) -> None:
        while not self._watches.loaded.wait(0.5):
            if self._stop:
                return
        self.take_up()
        while not self._stop:
            began_s = time.monotonic()
            self.tick()
            if (is_idle := self._active is None) and not self._wake.is_set():
                self._begin_to_read()
                self.follow()
            took_s = time.monotonic() - began_s
            period_s = READ_EVERY_S if is_idle else self._period_s
            rest_s = min(max(period_s - took_s, took_s * _AT_REST), max(_LONGEST_REST_S, period_s))
            if self._wake.wait(rest_s):
                self._ended.wait(FIRST_LOOK_S)
            self._wake.clear()

    def take_up(self) -> None:
        """At start: a watch that an earlier agent began and nobody can end is reported as interrupted."""
        running, watch = self._router.engine.revision, self._watches.current
        for number in (running, running - 1):
            known = self._watches.report(number)
            try:
                report = None if known is None else WatchReport.model_validate(known)
            except ValidationError:
                report = None
            if report is None:
                continue
            goes_on = watch is not None and watch.revision == number and not watch.over
            if report.state == "watching" and not goes_on:
                note = "the agent was stopped, and what it needs to go on is lost"
                report = report.model_copy(update={"state": "interrupted", "left_s": 0.0, "note": note})
                self._watches.keep(number, report.model_dump(mode="json"))
            self._know(report)
            if (
                number == running
                and watch is not None
                and report.state == "worse"
                and not report.as_before_since
            ):
                self._go_on_with(report, self._prepared(watch).judgement, watch.ends_boot_s)
