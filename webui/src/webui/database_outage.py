"""Distinguishes an unavailable database from any other error, wherever it occurs and however deep."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from django.db import DataError, InterfaceError, OperationalError

RETRY_AFTER_S = 2
DETAIL = (
    "The web server's database does not answer. If you changed something, look whether it was done before you"
    " send it again."
)
_DEEPEST = 10
_TELL_EVERY_S = 10.0
_log = logging.getLogger(__name__)


def is_outage(error: BaseException | None) -> bool:
    """Whether the connection to the database failed, or the error was caused by that.

    After a connection dies, the rest of its transaction raises errors of other kinds, caused by this one.
    """
    return _behind(error, lambda one: isinstance(one, (OperationalError, InterfaceError)))


def is_nul(error: BaseException | None) -> bool:
    """Whether PostgreSQL was given text with a NUL byte, which it cannot hold."""
    return _behind(error, lambda one: isinstance(one, DataError) and "NUL (0x00)" in str(one))


def _behind(error: BaseException | None, matches: Callable[[BaseException], bool]) -> bool:
    for _ in range(_DEEPEST):
        if error is None:
            return False
        if matches(error):
            return True
        error = error.__cause__ or error.__context__
    return False


class OutageLog:
    """One line in ten seconds, however many requests meet the outage."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._told_at: float | None = None

    def tell(self, where: str, error: BaseException) -> None:
        """Log it unless it was just logged."""
        now = self._clock()
        with self._lock:
            if self._told_at is not None and now - self._told_at < _TELL_EVERY_S:
                return
            self._told_at = now
        _log.error("the database does not answer: %s: %s", where, str(error).strip()[:500])


outage_log = OutageLog()
"""The log of this process."""
