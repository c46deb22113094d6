"""Lists for which a routing daemon holds up everything else: read rarely, and once for all callers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from appliance.routing.walks import Walks

V = TypeVar("V")
_REUSED = 10
"""A list is valid for this many times the duration of its reading."""
_KEPT = 4
"""How many lists are kept in memory."""


@dataclass(frozen=True)
class Seen(Generic[V]):
    """A list as last read; if it may not be read now, ``value`` is None and ``note`` says why."""

    value: V | None
    note: str = ""
    age_s: float = 0.0


@dataclass(frozen=True)
class _Kept(Generic[V]):
    value: V
    read_s: float
    took_s: float


class Seldom(Generic[V]):
    """Reads only so often that it takes a twentieth of the daemon's time. Thread-safe: a caller during a
    reading waits for it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._walks, self._lock = clock, Walks(clock), threading.Lock()
        self._kept: dict[Hashable, _Kept[V]] = {}

    def read(self, key: Hashable, reading: Callable[[], V]) -> Seen[V]:
        """The result of ``reading``, now or a moment ago. Raises what it raises."""
        with self._lock:
            known = self._kept.get(key)
            if known is not None and self._clock() - known.read_s <= known.took_s * _REUSED:
                return self._seen(known)
            wait_s = self._walks.wait_s()
            if wait_s > 0:
                return Seen(None, _resting(wait_s)) if known is None else self._seen(known)
            begun_s = self._clock()
            try:
                value = reading()
            finally:
                took_s = self._clock() - begun_s
                self._walks.spend(took_s)
            self._kept.pop(key, None)
            self._kept[key] = kept = _Kept(value, self._clock(), took_s)
            while len(self._kept) > _KEPT:
                del self._kept[next(iter(self._kept))]
            return self._seen(kept)

    def _seen(self, kept: _Kept[V]) -> Seen[V]:
        return Seen(kept.value, "", max(0.0, self._clock() - kept.read_s))


def _resting(wait_s: float) -> str:
    return (
        "The list was not read: each reading delays FRR's updates, and it was read often just now. "
        f"Ask again in {max(1, round(wait_s))} s, or for a single entry."
    )
