"""How long a request waits for the database in total, and when a server that did not answer is asked
again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

REQUEST_S = 6.0
"""The longest wait of a request for all its statements together: the slowest requests take a tenth of it."""
HEALTH_CHECK_S = 2.0
"""The longest wait for the answer whether an old connection still works."""
_QUIET_S = 1.0

_left_s: ContextVar[float | None] = ContextVar("left_s", default=None)


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Inside the block, the total wait of this thread for the database is limited to this; elsewhere it
    is unlimited.
    """
    token = _left_s.set(seconds)
    try:
        yield
    finally:
        _left_s.reset(token)


def left_s() -> float | None:
    """The remaining time; None where it is unlimited."""
    return _left_s.get()


def spend(seconds: float) -> None:
    """Subtract a wait from the remaining time."""
    if (left := _left_s.get()) is not None:
        _left_s.set(max(0.0, left - seconds))


class Quiet:
    """After a server did not answer a connection, nothing asks it for a second: callers fail at once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0

    def begin(self) -> None:
        """Record that a connection got no answer."""
        with self._lock:
            self._until = self._clock() + _QUIET_S

    def __bool__(self) -> bool:
        with self._lock:
            return self._clock() < self._until
