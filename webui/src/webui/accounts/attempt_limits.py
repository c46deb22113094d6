"""Limits on how often something may be tried: leaky buckets by key, in bounded memory, with an injected
clock.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

MOST_KEYS = 4096


@dataclass(frozen=True)
class Limit:
    """`burst` attempts at once, and one more every `every_s` seconds."""

    burst: int
    every_s: float


class Attempts:
    """Counts attempts by key. Above `most_keys`, the key that was idle longest is forgotten."""

    def __init__(self, limit: Limit, clock: Callable[[], float], most_keys: int = MOST_KEYS) -> None:
        self._limit, self._clock, self._most_keys = limit, clock, most_keys
        self._level: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, key: str) -> float:
        """Seconds until `key` may try again; 0 means now."""
        with self._lock:
            return max(0.0, (self._now(key) + 1 - self._limit.burst) * self._limit.every_s)

    def level(self, key: str) -> float:
        """The used part of the burst."""
        with self._lock:
            return self._now(key)

    def take(self, key: str) -> float:
        """Count an attempt and return 0; over the limit, count nothing and return the seconds until `key`
        may try again.
        """
        with self._lock:
            level = self._now(key)
            if level + 1 > self._limit.burst:
                return (level + 1 - self._limit.burst) * self._limit.every_s
            self._set(key, level + 1)
            return 0.0

    def refund(self, key: str) -> None:
        """Take back the count of an attempt, because it succeeded."""
        with self._lock:
            self._set(key, max(0.0, self._now(key) - 1))

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._level.clear()

    def _set(self, key: str, level: float) -> None:
        self._level[key] = (level, self._clock())
        self._level.move_to_end(key)
        while len(self._level) > self._most_keys:
            self._level.popitem(last=False)

    def _now(self, key: str) -> float:
        level, at = self._level.get(key, (0.0, 0.0))
        return max(0.0, level - (self._clock() - at) / self._limit.every_s)
