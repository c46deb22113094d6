"""From readings to worsenings: since when, and whether they count. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from appliance.config.document import RouterConfig
from appliance.impact.analysis import whose
from appliance.impact.result import Result
from appliance.state.watch import Foretold, Measured, Worsening
from appliance.watching.measure import AnyMeasure, Comparison, Reading, Span, Worse
from appliance.watching.measures import Readings

_UNREAD_S = 10.0
"""A measure that could be read before and cannot be read now is worse after this long."""
_AT_THE_END_S = 1.0
"""At the end, a worsening counts if it was seen twice."""
_RATE_S = 4.0
"""Rates span at least this many seconds."""
MOST = 50
"""How many worsenings are listed."""
_LONGEST_TEXT = 300
Key = tuple[str, str]


@dataclass(frozen=True)
class Before:
    """What was read before the commit."""

    readings: Mapping[str, Reading] = field(default_factory=dict)
    earlier: Mapping[str, tuple[Reading, float]] = field(default_factory=dict)
    """Readings of counters from some seconds before those, and how many."""
    missing: Mapping[str, str] = field(default_factory=dict)
    ages_s: Mapping[str, float] = field(default_factory=dict)
    """Of readings that were not made right before the commit: how long before it they were."""


@dataclass
class _Standing:
    rule: str
    worse: Worse
    since_s: float
    seen_s: float
    looks: int = 1


class Judgement:
    """What is worse after one commit, look by look. Times are those of one clock that never goes back."""

    def __init__(
        self, measures: Sequence[AnyMeasure], before: Before, after: RouterConfig, foretold: Result | None
    ) -> None:
        self._measures = [one for one in measures if one.name in before.readings]
        self._before, self._after, self._foretold = before, after, foretold
        self._counters = frozenset(one.name for one in measures if one.counts)
        self._history: dict[str, list[tuple[float, Reading]]] = {}
        self._standing: dict[Key, _Standing] = {}
        self._passed: dict[Key, _Standing] = {}
        self._last = Readings()

    @property
    def measures(self) -> Sequence[AnyMeasure]:
        """The measures that can be compared: they were read before."""
        return self._measures

    @property
    def unread(self) -> frozenset[str]:
        """Measures that could not be read in the last look."""
        return frozenset(self._last.missing)

    def first(self, measure: AnyMeasure) -> Reading:
        """Its reading from before the commit."""
        return self._before.readings[measure.name]

    def judge_by(self, after: RouterConfig) -> None:
        """Another document runs now: what it asks for does not count either."""
        self._after = after

    def take(self, readings: Readings, now_s: float) -> None:
        """Judge one look."""
        found: dict[Key, tuple[str, Worse]] = {}
        for measure in self._measures:
            for worse in self._of(measure, readings, now_s):
                found[measure.name, worse.object] = (measure.name, worse)
        for key in [key for key in self._standing if key not in found]:
            self._passed[key] = self._standing.pop(key)
        for key, (rule, worse) in found.items():
            self._passed.pop(key, None)
            known = self._standing.get(key)
            if known is None:
                self._standing[key] = _Standing(rule, worse, now_s, now_s)
            else:
                known.worse, known.seen_s, known.looks = worse, now_s, known.looks + 1
        self._last = Readings({**self._last.found, **readings.found}, readings.missing)

    def _of(self, measure: AnyMeasure, readings: Readings, now_s: float) -> Iterator[Worse]:
        reading = readings.found.get(measure.name)
        if reading is None:
            why = readings.missing.get(measure.name, "")
            # Nothing new is known about this worsening.
            for (rule, _), one in self._standing.items():
                if rule == measure.name:
                    yield one.worse
            yield Worse(
                measure.name,
                f"The {measure.name} cannot be read: {why}.",
                asked_for=not measure.concerns(self._after),
                lasts_s=_UNREAD_S,
            )
            return
        rates_now = None
        if measure.counts:
            history = self._history.setdefault(measure.name, [])
            old = [(at_s, then) for at_s, then in history if now_s - at_s >= _RATE_S]
            if old:
                at_s, then = old[-1]
                rates_now = Span(then, reading, now_s - at_s)
                del history[: len(old) - 1]
            history.append((now_s, reading))
        first, earlier = self._before.readings[measure.name], self._before.earlier.get(measure.name)
        rates_before = None if earlier is None else Span(earlier[0], first, earlier[1])
        yield from measure.compares(Comparison(first, reading, self._after, rates_before, rates_now))

    def lasting(self, now_s: float, at_the_end: bool) -> list[Worsening]:
        """The worsenings that count now: those that have lasted, or those present at the end."""
        return [
            self._told(one, now_s)
            for one in self._standing.values()
            if not one.worse.asked_for and self._counts(one, now_s, at_the_end)
        ]

    @staticmethod
    def _counts(one: _Standing, now_s: float, at_the_end: bool) -> bool:
        lasted_s = now_s - one.since_s
        if at_the_end and one.looks > 1 and lasted_s >= _AT_THE_END_S:
            return True
        return one.worse.lasts_s is not None and lasted_s >= one.worse.lasts_s

    def standing(self, now_s: float) -> list[Worsening]:
        """All worsenings; those that the commit asked for come last."""
        told = [self._told(one, now_s) for one in self._standing.values()]
        return sorted(told, key=lambda one: (one.asked_for, -one.for_s))

    def passed(self) -> list[Worsening]:
        """What was worse and is as before again."""
        return [self._told(one, one.seen_s) for one in self._passed.values()]

    def measured(self) -> tuple[Measured, ...]:
        """Each measure before and now, in short."""
        return tuple(
            Measured(
                name=one.name,
                before=self._shown_before(one),
                after=one.shows(self._last.found[one.name]) if one.name in self._last.found else "not read",
            )
            for one in self._measures
        )

    def _shown_before(self, one: AnyMeasure) -> str:
        shown, age_s = one.shows(self._before.readings[one.name]), self._before.ages_s.get(one.name)
        return shown if age_s is None else f"{shown} ({age_s:.0f} s before the commit)"

    def not_compared(self) -> dict[str, str]:
        """The measures that could not be compared, with the reason."""
        unknown = {
            one.name: "its rates before the commit are not known; a counter that was not 0 then is left out"
            for one in self._measures
            if one.counts and one.name not in self._before.earlier
        }
        return {**self._before.missing, **unknown}

    def not_seen(self) -> tuple[str, ...]:
        """Sessions whose loss was foretold as certain, and that were not lost.

        None are listed if some sessions could not be read.
        """
        if (self._before.missing.keys() | self.unread) - self._counters:
            return ()
        seen = [one.worse for one in (*self._standing.values(), *self._passed.values())]
        return tuple(
            finding.text
            for finding in (self._foretold.findings if self._foretold is not None else ())
            if (finding.grade, finding.kind) == ("certain", "session")
            and not any(_is_about(finding.path, finding.text, worse) for worse in seen)
        )

    def _told(self, one: _Standing, now_s: float) -> Worsening:
        worse = one.worse
        return Worsening(
            rule=one.rule,
            object=worse.object[:_LONGEST_TEXT],
            text=worse.text[:_LONGEST_TEXT],
            before=worse.before[:_LONGEST_TEXT],
            after=worse.after[:_LONGEST_TEXT],
            path=worse.path,
            asked_for=worse.asked_for,
            foretold=self._grade(worse),
            for_s=round(now_s - one.since_s, 1),
        )

    def _grade(self, worse: Worse) -> Foretold:
        if self._foretold is None:
            return "unknown"
        grades = {
            finding.grade
            for finding in self._foretold.findings
            if finding.kind in worse.kinds and _is_about(finding.path, finding.text, worse)
        }
        if "certain" in grades:
            return "certain"
        return "possible" if grades else "no"


def _is_about(path: str, text: str, worse: Worse) -> bool:
    if worse.path and (path == worse.path or path.startswith(f"{worse.path}/")):
        return True
    if len({whose(path), whose(worse.path)} - {None}) > 1:
        # Both may have the same addresses.
        return False
    return any(_has_word(text, word) for word in (worse.object, *worse.words) if word)


def _has_word(text: str, word: str) -> bool:
    """Whether a text contains this name or address itself, not a longer one that begins or ends with it."""
    return re.search(rf"(?<![\w.:-]){re.escape(word)}(?![\w-]|[.:]\w)", text) is not None
