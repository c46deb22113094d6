"""The list of all measures, and how to read them without waiting for one that hangs."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial

from appliance.errors import MillraceError
from appliance.features.registry import declared
from appliance.liveness.watch import measures as liveness_measures
from appliance.watching.measure import AnyMeasure, Asked, Reading
from appliance.watching.probing import PINGS

log = logging.getLogger(__name__)


def every_measure() -> tuple[AnyMeasure, ...]:
    """The measures of the features, those of what they declare, and the pings."""
    return (*(one for listed in declared("watch", "MEASURES") for one in listed), *liveness_measures(), PINGS)


@dataclass(frozen=True)
class Readings:
    """The readings of one time, and why the rest are missing."""

    found: Mapping[str, Reading] = field(default_factory=dict)
    """By the measure's name."""
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Begun:
    """A reading under way."""

    futures: Mapping[str, Future[Reading]]
    late: frozenset[str]
    """Measures whose earlier question is still unanswered: an answer that comes now does not belong to this
    one."""
    began_s: float = field(default_factory=time.monotonic)

    def wait(self, timeout_s: float, names: Collection[str] | None = None) -> None:
        """Wait at most this long for all that may answer, or for those of ``names``."""
        wanted = self.futures if names is None else [name for name in names if name in self.futures]
        wait([self.futures[name] for name in wanted if name not in self.late], max(timeout_s, 0))

    @property
    def unanswered(self) -> frozenset[str]:
        """The measures not read yet."""
        return self.late | {name for name, future in self.futures.items() if not future.done()}

    def readings(self) -> Readings:
        """The readings so far. Raises nothing."""
        found: dict[str, Reading] = {}
        missing: dict[str, str] = {}
        unanswered = self.unanswered
        for name, future in self.futures.items():
            if name in unanswered:
                missing[name] = "there was no answer in time"
                continue
            error = future.exception()
            if error is None:
                found[name] = future.result()
                continue
            if not isinstance(error, MillraceError):
                log.error("%s cannot be read: %s", name, error, exc_info=error)
            missing[name] = str(error) or type(error).__name__
        return Readings(found, missing)


@dataclass(frozen=True)
class _Question:
    answer: Future[Reading]
    reads: Callable[[], Reading]


def _ask(row: Sequence[_Question]) -> None:
    """Ask one after the other: waking a thread for each takes longer than most answers."""
    for question in row:
        try:
            question.answer.set_result(question.reads())
        except BaseException as error:
            question.answer.set_exception(error)


class Readers:
    """One thread per source. A reading that hangs is waited for again, not repeated."""

    def __init__(self, measures: Sequence[AnyMeasure]) -> None:
        self._pool = ThreadPoolExecutor(len(measures) or 1, thread_name_prefix="watching")
        self._under_way: dict[str, Future[Reading]] = {}

    def begin(
        self, measures: Sequence[AnyMeasure], asked: Mapping[str, Asked], ahead: Begun | None = None
    ) -> Begun:
        """Begin to read these, each with its ``asked``; those of ``ahead`` are already begun."""
        known = {} if ahead is None else {n: f for n, f in ahead.futures.items() if n not in ahead.late}
        late = {name for name, future in self._under_way.items() if not future.done() and name not in known}
        self._under_way = {**{name: self._under_way[name] for name in late}, **known}
        rows: dict[str, list[_Question]] = {}
        for measure in measures:
            if measure.name not in self._under_way:
                question = _Question(Future(), partial(measure.reads, asked[measure.name]))
                self._under_way[measure.name] = question.answer
                rows.setdefault(measure.asks or measure.name, []).append(question)
        for row in rows.values():
            self._pool.submit(_ask, row)
        names = [measure.name for measure in measures]
        return Begun({name: self._under_way[name] for name in names}, frozenset(late.intersection(names)))

    def read(self, measures: Sequence[AnyMeasure], asked: Mapping[str, Asked], within_s: float) -> Readings:
        """Read these, and wait at most this long. Raises nothing."""
        begun = self.begin(measures, asked)
        begun.wait(within_s)
        return begun.readings()

    def close(self) -> None:
        """Release the threads; a reading under way ends on its own."""
        self._pool.shutdown(wait=False, cancel_futures=True)
