"""A limit on the time of some work; waiting for others does not count."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Deadline:
    """Ends after ``within_s`` seconds of one thread's work from now; by default never."""

    def __init__(self, within_s: float = float("inf")) -> None:
        self._ends_s = time.monotonic() + within_s

    @property
    def left_s(self) -> float:
        """Seconds until then, at least 0."""
        return max(self._ends_s - time.monotonic(), 0)

    @property
    def is_over(self) -> bool:
        """Whether the time is spent."""
        return time.monotonic() > self._ends_s

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Time spent inside is not counted."""
        began_s = time.monotonic()
        try:
            yield
        finally:
            self._ends_s += time.monotonic() - began_s
