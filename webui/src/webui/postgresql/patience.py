"""How long a request waits for the database altogether, and who asks a server that did not answer again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

REQUEST_S = 6.0
"""A request waits this long for all its statements together: its slowest take a tenth of that."""
HEALTH_CHECK_S = 2.0
"""The question whether an old connection still answers."""
_QUIET_S = 1.0

_left_s: ContextVar[float | None] = ContextVar("left_s", default=None)


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Within, this thread waits for the database no longer than that altogether; elsewhere without end."""
    token = _left_s.set(seconds)
    try:
        yield
    finally:
        _left_s.reset(token)


def left_s() -> float | None:
    """What is left; None where there is no end."""
    return _left_s.get()


def spend(seconds: float) -> None:
    """Take what was waited from what is left."""
    if (left := _left_s.get()) is not None:
        _left_s.set(max(0.0, left - seconds))


class Quiet:
    """After a server did not answer a connection nobody asks it for a second: who comes learns it at once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0

    def begin(self) -> None:
        """A connection was not answered just now."""
        with self._lock:
            self._until = self._clock() + _QUIET_S

    def __bool__(self) -> bool:
        with self._lock:
            return self._clock() < self._until
