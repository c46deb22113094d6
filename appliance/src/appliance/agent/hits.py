"""The hits of access lists as they are now: no history of them is kept, and many who ask cost one reading."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.dataplane.base import RuleCounters
from appliance.errors import NotFound

FRESH_S = 1.0
"""A reading serves everybody for this long."""
HitsByList = Mapping[str, Mapping[int, RuleCounters]]


@dataclass(frozen=True)
class _Reading:
    time_s: float
    """Wall clock, for rates."""
    until_s: float
    """Monotonic."""
    hits: HitsByList


class Hits:
    """Reads the data plane's hits when somebody asks, in any thread. May raise BackendUnavailable."""

    def __init__(
        self, read: Callable[[], HitsByList], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._monotonic = read, monotonic
        self._lock = threading.Lock()
        self._last: _Reading | None = None

    def totals(self) -> dict[str, Any]:
        """``time`` and ``acls``: by name ``rules`` (how many), ``packets`` and ``bytes`` of all of them."""
        reading = self._now()
        return {
            "time": reading.time_s,
            "acls": {
                name: {
                    "rules": len(rules),
                    "packets": sum(rule.packets for rule in rules.values()),
                    "bytes": sum(rule.bytes for rule in rules.values()),
                }
                for name, rules in reading.hits.items()
            },
        }

    def of(self, name: str) -> dict[str, Any]:
        """``time`` and ``rules``: ``packets`` and ``bytes`` by sequence. Raises NotFound."""
        reading = self._now()
        if name not in reading.hits:
            raise NotFound("the data plane has no access list of this name")
        rules = {str(sequence): vars(rule) for sequence, rule in reading.hits[name].items()}
        return {"time": reading.time_s, "rules": rules}

    def _now(self) -> _Reading:
        with self._lock:
            if self._last is None or self._monotonic() >= self._last.until_s:
                hits = self._read()
                self._last = _Reading(time.time(), self._monotonic() + FRESH_S, hits)
            return self._last
