"""How much of a routing daemon's time views may take by queries for which it walks its table."""

from __future__ import annotations

import time
from collections.abc import Callable

SHARE = 0.05
"""The share of its time, in the long run."""
BURST_S = 2.0
"""What an occasional viewer may take at once."""


class Walks:
    """An allowance of seconds that refills at ``SHARE``; a walk may begin while any of it is left.

    A daemon reads no routing update while it walks, so time spent beyond the allowance delays the next walk.
    Not thread-safe.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left_s = BURST_S
        self._at_s = clock()

    def wait_s(self) -> float:
        """Seconds until the next walk may begin; 0 now."""
        self._refill()
        return 0.0 if self._left_s > 0 else -self._left_s / SHARE

    def spend(self, took_s: float) -> None:
        """A walk took this long."""
        self._refill()
        self._left_s -= took_s

    def _refill(self) -> None:
        now_s = self._clock()
        self._left_s = min(BURST_S, self._left_s + (now_s - self._at_s) * SHARE)
        self._at_s = now_s
