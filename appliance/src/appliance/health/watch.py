"""Makes the checks regularly, and keeps the current alarms."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from appliance.config.document import RouterConfig
from appliance.engine.clock import Clock, SystemClock
from appliance.engine.records import timestamp
from appliance.errors import MillraceError
from appliance.health.check import AnyCheck, Check, Finding, Key, Look
from appliance.health.checks import every_check
from appliance.health.events import EventLog
from appliance.health.rests import Rests, rest_after
from appliance.state.alarms import SEVERITIES, Alarm, AlarmEvent, Alarms, Events, EventsQuery, counted

if TYPE_CHECKING:
    from appliance.agent.router import Router

log = logging.getLogger(__name__)

PERIOD_S = 5.0
"""Interval of looks; a check that takes long to read is not made in each."""
_ANSWER_S = 4.0
"""A check not read by then is unchecked in this look; its reading goes on."""
_FIRST_LOOK_S = 30.0
"""The longest wait for the engine's first observation of the router."""
MOST_FINDINGS = 500
"""How many alarms of one check are listed; one more says how many are not."""
_MOST_LOGGED = 20
"""How many events of one look are also written to the agent's own log."""
_LONGEST_TEXT = 300
_MOST_EVIDENCE = 12


@dataclass(frozen=True)
class _Standing:
    """A current alarm."""

    check: str
    finding: Finding
    since_boot_s: float


@dataclass(frozen=True)
class _Reading:
    """A check's last successful reading."""

    value: Any
    boot_s: float
    took_s: float


class HealthWatch:
    """One thread that looks, and one for each check that reads. Its answers never wait."""

    def __init__(
        self,
        router: Router,
        events: EventLog,
        checks: Sequence[AnyCheck] | None = None,
        clock: Clock | None = None,
        period_s: float = PERIOD_S,
    ) -> None:
        self._router, self._events, self._period_s = router, events, period_s
        chosen = every_check(feeds=router.feeder is not None) if checks is None else checks
        self._checks = tuple(chosen)
        self._clock = clock or SystemClock()
        self._readers = ThreadPoolExecutor(len(self._checks) or 1, thread_name_prefix="health")
        self._menders = ThreadPoolExecutor(1, thread_name_prefix="health-mend")
        self._mending: set[str] = set()
        """Checks whose findings are being repaired."""
        self._under_way: dict[str, Future[Any]] = {}
        self._before: dict[str, _Reading] = {}
        self._rests = Rests()
        self._first_found: dict[Key, tuple[str, float]] = {}
        """The check and the time since boot of findings that are not alarms yet, for want of patience."""
        self._standing: dict[Key, _Standing] = self._left_standing()
        self._unchecked: dict[str, str] = {}
        self._done: tuple[str, ...] = ()
        """Checks that could be made when they were last due, in their order."""
        self._looked_boot_s: float | None = None
        self._guard = threading.Lock()
        self._looking = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look regularly until ``stop``."""
        self._thread = threading.Thread(target=self._run, name="health", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 5) -> None:
        """Stop looking; a reading under way is abandoned."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout_s)
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._menders.shutdown(wait=False, cancel_futures=True)

    # Asking.

    def alarms(self) -> Alarms:
        """Every current alarm, the worst first, then the newest: it is what somebody was called for."""
        standing, unchecked, totals = self._totals()
        now_s = self._clock.boot_s()
        shown = [self._shown(one, one.check not in unchecked, now_s) for one in standing]
        shown.sort(key=lambda alarm: (SEVERITIES.index(alarm.severity), alarm.for_s, alarm.object))
        with self._guard:
            done = self._done
        return Alarms(alarms=tuple(shown), checks=done, **totals)

    def summary(self) -> dict[str, Any]:
        """The answer of ``alarms`` without the alarms; short work, however many there are."""
        return self._totals()[2]

    def _totals(self) -> tuple[list[_Standing], dict[str, str], dict[str, Any]]:
        """The alarms of one look, what was unchecked then, and the fields about both."""
        with self._guard:
            standing, unchecked = list(self._standing.values()), dict(self._unchecked)
            looked_boot_s = self._looked_boot_s
        counts = counted(one.finding.severity for one in standing)
        ago_s = None if looked_boot_s is None else round(self._clock.boot_s() - looked_boot_s, 1)
        return (
            standing,
            unchecked,
            {
                "counts": counts,
                "worst": next(iter(counts), None),
                "looked_s_ago": ago_s,
                "unchecked": unchecked,
            },
        )

    def events(self, query: EventsQuery) -> Events:
        """The log."""
        return self._events.find(query)

    @property
    def usage(self) -> dict[str, int]:
        """Space that the log takes, and may take."""
        return self._events.usage

    # Looking.

    def look(self, *, only_due: bool = False) -> float:
        """Make every check once, or those that are due; returns the seconds taken, without those of reading.

        Raises nothing: a check that cannot be made is reported as unchecked.
        """
        with self._looking:
            return self._look(only_due)

    def _look(self, only_due: bool) -> float:
        engine = self._router.engine
        revision, config = engine.revision, engine.running_config
        concerned = {check.name: check for check in self._checks if check.concerns(config)}
        self._forget(self._before.keys() - concerned.keys())
        resting = self._rests.at_rest(concerned, self._clock.boot_s()) if only_due else set()
        due = {name: check for name, check in concerned.items() if name not in resting}
        readings, unchecked = self._read(due)
        for name, reading in readings.items():
            self._rests.read(name, reading.took_s, self._clock.boot_s())
        # A reading taken while the running revision changed belongs to neither.
        if engine.revision != revision:
            return 0.0
        began_s = time.monotonic()
        found: dict[Key, tuple[str, Finding]] = {}
        done: set[str] = set()
        for check in self._checks:
            if check.name in unchecked or check.name in resting:
                continue
            try:
                findings = self._judged(check, readings.get(check.name), config)
            except Exception as error:
                log.exception("the check of %s failed", check.name)
                unchecked[check.name] = f"the check failed: {error}"
                continue
            done.add(check.name)
            found.update((one.key, (check.name, one)) for one in findings)
        self._before |= readings
        with self._guard:
            unchecked |= {name: why for name, why in self._unchecked.items() if name in resting}
            made = readings.keys() & done | resting & set(self._done) & self._before.keys()
        self._take(found, done, unchecked, revision)
        oldest_boot_s = min((self._before[name].boot_s for name in made), default=self._clock.boot_s())
        with self._guard:
            self._done = tuple(check.name for check in self._checks if check.name in made)
            self._looked_boot_s = oldest_boot_s
        return time.monotonic() - began_s

    def _forget(self, names: set[str]) -> None:
        for name in names:
            del self._before[name]
        self._rests.forget(names)

    def _read(self, due: Mapping[str, AnyCheck]) -> tuple[dict[str, _Reading], dict[str, str]]:
        """What each check read, and why others did not."""
        for name, check in due.items():
            if name not in self._under_way:
                self._under_way[name] = self._readers.submit(self._reading, check)
        wait([self._under_way[name] for name in due], _ANSWER_S)
        readings: dict[str, _Reading] = {}
        unchecked: dict[str, str] = {}
        for name in due:
            future = self._under_way[name]
            if not future.done():
                unchecked[name] = "it does not answer in time"
                continue
            del self._under_way[name]
            error = future.exception()
            if error is None:
                readings[name] = future.result()
                continue
            if not isinstance(error, MillraceError):
                log.error("the check of %s cannot read: %s", name, error, exc_info=error)
            unchecked[name] = str(error) or type(error).__name__
        return readings, unchecked

    def _reading(self, check: AnyCheck) -> _Reading:
        began_s = self._clock.boot_s()
        value = check.reads(self._router)
        now_s = self._clock.boot_s()
        return _Reading(value, now_s, now_s - began_s)

    def _seen(self, check: Check[Any], reading: _Reading, config: RouterConfig) -> Look[Any]:
        before, now_s = self._before.get(check.name), self._clock.boot_s()
        return Look(
            reading.value,
            config,
            None if before is None else before.value,
            0.0 if before is None else reading.boot_s - before.boot_s,
            {key: now_s - one.since_boot_s for key, one in self._standing.items() if one.check == check.name},
        )

    def _judged(self, check: Check[Any], reading: _Reading | None, config: RouterConfig) -> list[Finding]:
        if reading is None:  # there is nothing to check
            return []
        look = self._seen(check, reading, config)
        if check.mends is not None and check.name not in self._mending:
            self._mending.add(check.name)
            self._menders.submit(self._mend, check, look)
        findings = list(check.judges(look))
        findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
        if (more := len(findings) - MOST_FINDINGS) > 0:
            findings[MOST_FINDINGS:] = [
                Finding(
                    "more_alarms",
                    check.name,
                    findings[MOST_FINDINGS].severity,
                    f"{more} more alarms of the check of {check.name} are not listed",
                    "Fix those that are listed.",
                )
            ]
        return findings

    def _mend(self, check: Check[Any], look: Look[Any]) -> None:
        """In a thread of its own: Linux may hold its lock for a minute while it frees a full table."""
        try:
            if check.mends is not None:
                check.mends(self._router, look)
        except MillraceError as error:
            log.warning("what the check of %s found cannot be repaired: %s", check.name, error)
        finally:
            self._mending.discard(check.name)

    def _take(
        self, found: dict[Key, tuple[str, Finding]], done: set[str], unchecked: dict[str, str], revision: int
    ) -> None:
        """Compare with the current alarms, and record what was raised and what was cleared."""
        now_s = self._clock.boot_s()
        first_found = {key: one for key, one in self._first_found.items() if one[0] not in done}
        standing: dict[Key, _Standing] = {}
        events: list[AlarmEvent] = []
        known = {check.name for check in self._checks}
        for key, one in self._standing.items():
            if key in found:
                name, finding = found[key]
                standing[key] = _Standing(name, _cut(finding), one.since_boot_s)
            elif one.check not in done and one.check in known:
                # Nothing new is known about it.
                standing[key] = one
            else:
                events.append(self._event("cleared", one, revision, now_s - one.since_boot_s))
        for key, (name, finding) in found.items():
            if key in standing:
                continue
            _, began_s = self._first_found.get(key, (name, now_s))
            if now_s - began_s < finding.patience_s:
                first_found[key] = name, began_s
                continue
            standing[key] = _Standing(name, _cut(finding), min(began_s, now_s - (finding.for_s or 0.0)))
            events.append(self._event("raised", standing[key], revision))
        first = self._events.next_number
        events = [event.model_copy(update={"number": first + at}) for at, event in enumerate(events)]
        for event in events[:_MOST_LOGGED]:
            level = logging.WARNING if event.event == "raised" else logging.INFO
            log.log(level, "alarm %s: %s: %s", event.event, event.severity, event.summary)
        if (more := len(events) - _MOST_LOGGED) > 0:
            log.warning("%s more alarms were raised or cleared: see the event log", more)
        self._events.add(events)
        self._first_found = first_found
        with self._guard:
            self._standing, self._unchecked = standing, unchecked

    def _event(self, what: str, one: _Standing, revision: int, lasted_s: float | None = None) -> AlarmEvent:
        return AlarmEvent.model_validate(
            {
                **_words(one.finding),
                "number": 0,
                "time": timestamp(self._clock.unix_s()),
                "event": what,
                "check": one.check,
                "lasted_s": None if lasted_s is None else round(lasted_s, 1),
                "revision": revision,
            }
        )

    def _shown(self, one: _Standing, checked: bool, now_s: float) -> Alarm:
        for_s = max(0.0, now_s - one.since_boot_s)
        since = timestamp(self._clock.unix_s() - for_s)
        return Alarm.model_validate(
            {**_words(one.finding), "since": since, "for_s": round(for_s, 1), "checked": checked}
        )

    def _left_standing(self) -> dict[Key, _Standing]:
        """Alarms current when the agent stopped: the first look says whether they still are."""
        now_s, now_unix_s = self._clock.boot_s(), self._clock.unix_s()
        standing: dict[Key, _Standing] = {}
        for event in self._events.uncleared():
            try:
                ago_s = max(0.0, now_unix_s - _unix_of(event.time))
            except ValueError:
                ago_s = 0.0
            finding = Finding(
                event.kind,
                event.object,
                event.severity,
                event.summary,
                event.advice,
                event.evidence,
                event.pointer,
            )
            standing[finding.key] = _Standing(event.check, finding, now_s - ago_s)
        return standing

    def _run(self) -> None:
        self._wait_for_the_engine()
        while not self._stop.is_set():
            began_s, busy_s = time.monotonic(), 0.0
            try:
                busy_s = self.look(only_due=True)
            except Exception:
                log.exception("checking the router's health failed")
            took_s = time.monotonic() - began_s
            if self._stop.wait(max(self._period_s - took_s, rest_after(busy_s))):
                return

    def _wait_for_the_engine(self) -> None:
        """At its start the agent first repairs the router: what is down before that is no alarm yet."""
        deadline_s = time.monotonic() + _FIRST_LOOK_S
        while time.monotonic() < deadline_s:
            states = {entry["state"] for entry in self._router.engine.seen.health.values()}
            if "unknown" not in states or self._stop.wait(0.1):
                return


def _unix_of(text: str) -> float:
    """The inverse of ``timestamp``. Raises ValueError."""
    return datetime.fromisoformat(text).timestamp()


def _words(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "object": finding.object,
        "severity": finding.severity,
        "summary": finding.summary,
        "evidence": dict(finding.evidence),
        "advice": finding.advice,
        "pointer": finding.pointer,
    }


def _cut(finding: Finding) -> Finding:
    """Texts cut to a length that can be kept: other routers choose some of them."""
    evidence = list(finding.evidence.items())[:_MOST_EVIDENCE]
    return replace(
        finding,
        summary=finding.summary[:_LONGEST_TEXT],
        evidence={name: str(value)[:_LONGEST_TEXT] for name, value in evidence},
    )
