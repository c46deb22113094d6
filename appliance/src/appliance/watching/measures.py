"""The list of all measures, and reading them without waiting for one that hangs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial

from appliance.errors import MillraceError
from appliance.features.registry import declared
from appliance.watching.measure import AnyMeasure, Asked, Reading
from appliance.watching.probing import PINGS

log = logging.getLogger(__name__)


def every_measure() -> tuple[AnyMeasure, ...]:
    """Those of the features, and the pings."""
    return (*(one for listed in declared("watch", "MEASURES") for one in listed), PINGS)


@dataclass(frozen=True)
class Readings:
    """What was read at one time, and why the rest was not."""

    found: Mapping[str, Reading] = field(default_factory=dict)
    """By the measure's name."""
    missing: Mapping[str, str] = field(default_factory=dict)


class Readers:
    """A thread for each measure. A reading that hangs is waited for again, and not repeated."""

    def __init__(self, measures: Sequence[AnyMeasure]) -> None:
        self._pool = ThreadPoolExecutor(len(measures) or 1, thread_name_prefix="watching")
        self._under_way: dict[str, Future[Reading]] = {}

    def read(self, measures: Sequence[AnyMeasure], asked: Mapping[str, Asked], within_s: float) -> Readings:
        """Read these, each as it is ``asked``, and wait so long at most. Raises nothing."""
        late = {name for name, future in self._under_way.items() if not future.done()}
        self._under_way = {name: self._under_way[name] for name in late}
        for measure in measures:
            if measure.name not in late:
                work = partial(measure.reads, asked[measure.name])
                self._under_way[measure.name] = self._pool.submit(work)
        wait([self._under_way[measure.name] for measure in measures], within_s)
        found: dict[str, Reading] = {}
        missing: dict[str, str] = {}
        for measure in measures:
            future = self._under_way[measure.name]
            # An answer to an earlier question is not one to this.
            if measure.name in late or not future.done():
                missing[measure.name] = "there was no answer in time"
                continue
            error = future.exception()
            if error is None:
                found[measure.name] = future.result()
                continue
            if not isinstance(error, MillraceError):
                log.error("%s cannot be read: %s", measure.name, error, exc_info=error)
            missing[measure.name] = str(error) or type(error).__name__
        return Readings(found, missing)

    def close(self) -> None:
        """Let go of the threads; a reading under way ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)
