"""Checks the parts of the web half while somebody uses it, and keeps their alarms."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from appliance.state.alarms import Alarm
from webui.alarms.parts import DoesNotWork, NotChecked, Part

LOOK_EVERY_S = 10.0
_OLD_S = 60.0
"""An older check says nothing about the present."""
_FIRST_S = 1.0
"""A caller that finds no result, or only an old one, waits this long for a check."""
_PATIENCE = 2
"""This many checks in a row must find a part at fault: a restart is no alarm."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Fault:
    """A part that does not work, since when by both clocks, and how often the fault was observed."""

    seen: str
    since: str
    since_s: float
    looks: int = 1


class PartWatch:
    """Runs one check after the other in a thread of its own, so that no page waits for a part that does
    not answer.
    """

    def __init__(
        self, parts: Callable[[], Sequence[Part]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._parts, self._clock = parts, clock
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="web-parts")
        self._lock = threading.Lock()
        self._looking: Future[None] | None = None
        self._looked_s: float | None = None
        self._faults: dict[str, _Fault] = {}
        self._unchecked: dict[str, str] = {}

    def look(self) -> tuple[tuple[Alarm, ...], dict[str, str]]:
        """The current alarms, and the parts whose state is unknown, with the reason."""
        parts = self._parts()
        if not parts:
            return (), {}
        looking = self._ask()
        if looking is not None and self._is_old():
            with suppress(TimeoutError):
                looking.result(_FIRST_S)
        with self._lock:
            if self._is_old():
                return (), {part.name: "it has not been checked recently" for part in parts}
            now_s = self._clock()
            standing = tuple(
                _alarm(part, fault, now_s)
                for part in parts
                if (fault := self._faults.get(part.name)) is not None and fault.looks >= _PATIENCE
            )
            return standing, dict(self._unchecked)

    def _is_old(self) -> bool:
        return self._looked_s is None or self._clock() - self._looked_s > _OLD_S

    def _ask(self) -> Future[None] | None:
        """The check in progress; None where the last one is recent enough."""
        with self._lock:
            if self._looking is not None and not self._looking.done():
                return self._looking
            if self._looked_s is not None and self._clock() - self._looked_s < LOOK_EVERY_S:
                return None
            self._looking = self._pool.submit(self._look)
            return self._looking

    def _look(self) -> None:
        faults: dict[str, _Fault] = {}
        unchecked: dict[str, str] = {}
        for part in self._parts():
            before = self._faults.get(part.name)
            try:
                part.check()
            except DoesNotWork as error:
                faults[part.name] = self._fault(str(error), before)
            except NotChecked as error:
                unchecked[part.name] = str(error)
            except Exception as error:
                _log.exception("looking at %s", part.name)
                unchecked[part.name] = f"the check failed: {error}"
        with self._lock:
            for name in faults.keys() - self._faults.keys():
                _log.warning("%s: %s", name, faults[name].seen)
            self._faults, self._unchecked, self._looked_s = faults, unchecked, self._clock()

    def _fault(self, seen: str, before: _Fault | None) -> _Fault:
        if before is None:
            return _Fault(seen, datetime.now(UTC).isoformat(timespec="seconds"), self._clock())
        return _Fault(seen, before.since, before.since_s, before.looks + 1)


def _alarm(part: Part, fault: _Fault, now_s: float) -> Alarm:
    return Alarm(
        kind="web_part_down",
        object=part.name,
        severity="minor",
        summary=part.summary,
        since=fault.since,
        for_s=max(0.0, now_s - fault.since_s),
        evidence={"seen": fault.seen},
        advice=part.advice,
    )
