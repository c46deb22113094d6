"""The current hits of access lists: no history is kept, and many callers cost one reading."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.agent.cleared_counters import ClearedCounters
from appliance.dataplane.base import RuleCounters
from appliance.errors import NotFound

FRESH_S = 1.0
"""A reading serves all callers for this long."""
HitsByList = Mapping[str, Mapping[int, RuleCounters]]


@dataclass(frozen=True)
class _Reading:
    time_s: float
    """Wall clock, for rates."""
    until_s: float
    """Monotonic."""
    hits: HitsByList


class Hits:
    """Reads the data plane's hits on request, in any thread. May raise BackendUnavailable."""

    def __init__(
        self,
        read: Callable[[], HitsByList],
        monotonic: Callable[[], float] = time.monotonic,
        cleared: ClearedCounters | None = None,
    ) -> None:
        self._read, self._monotonic, self._cleared = read, monotonic, cleared
        self._lock = threading.Lock()
        self._last: _Reading | None = None

    def totals(self) -> dict[str, Any]:
        """``time`` and ``acls``: by name ``rules`` (how many), ``packets`` and ``bytes`` of all of them, and
        ``cleared``: None, or ``at``, ``by`` and the ``packets`` and ``bytes`` to take off.
        """
        reading = self._now()
        return {
            "time": reading.time_s,
            "acls": {
                name: {
                    "rules": len(rules),
                    "packets": sum(rule.packets for rule in rules.values()),
                    "bytes": sum(rule.bytes for rule in rules.values()),
                    "cleared": self._cleared_total(name, rules),
                }
                for name, rules in reading.hits.items()
            },
        }

    def of(self, name: str) -> dict[str, Any]:
        """``time`` and ``rules``: ``packets`` and ``bytes`` by sequence; and ``cleared``: None, or ``at``,
        ``by`` and ``rules``: ``packets`` and ``bytes`` to take off by sequence. Raises NotFound.
        """
        reading = self._now()
        if name not in reading.hits:
            raise NotFound("the data plane has no access list of this name")
        rules = {str(sequence): vars(rule) for sequence, rule in reading.hits[name].items()}
        cleared = None if self._cleared is None else self._cleared.of_list(name, reading.hits[name])
        return {"time": reading.time_s, "rules": rules, "cleared": cleared}

    def fresh(self) -> HitsByList:
        """All of them, read after this call."""
        with self._lock:
            self._last = None
        return self._now().hits

    def now(self) -> HitsByList:
        """All of them, at most FRESH_S old."""
        return self._now().hits

    def _cleared_total(self, name: str, rules: Mapping[int, RuleCounters]) -> dict[str, Any] | None:
        found = None if self._cleared is None else self._cleared.of_list(name, rules)
        if found is None:
            return None
        bases = found["rules"].values()
        totals = {unit: sum(base[unit] for base in bases) for unit in ("packets", "bytes")}
        return {"at": found["at"], "by": found["by"], **totals}

    def _now(self) -> _Reading:
        with self._lock:
            if self._last is None or self._monotonic() >= self._last.until_s:
                hits = self._read()
                if self._cleared is not None:
                    self._cleared.follow_lists(hits)
                self._last = _Reading(time.time(), self._monotonic() + FRESH_S, hits)
            return self._last
