"""Five minutes of counters, one sample a second, and everybody who waits for the next one."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

log = logging.getLogger(__name__)

KEPT = 300
"""Samples in the ring."""
PERIOD_S = 1.0


class Samples:
    """Reads the data plane's counters at 1 Hz. Samples are kept as JSON: thousands of rules cost little."""

    def __init__(self, read: Callable[[], dict[str, Any]]) -> None:
        self._read = read
        self._ring: deque[tuple[float, bytes]] = deque(maxlen=KEPT)
        self._next = asyncio.Condition()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="counters")
        self._failure: str | None = None

    async def run(self) -> None:
        """Sample until cancelled. While the data plane is away there are no samples."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            try:
                time_s, sample = await loop.run_in_executor(self._pool, self._sample)
            except Exception as error:
                if self._failure is None:
                    log.warning("no counters: %s", error)
                self._failure = str(error) or type(error).__name__
            else:
                if self._failure is not None:
                    log.info("counters are back")
                self._failure = None
                async with self._next:
                    self._ring.append((time_s, sample))
                    self._next.notify_all()
            # Late by more than a period (a suspended machine): begin anew instead of catching up.
            due = max(due + PERIOD_S, loop.time())
            await asyncio.sleep(due - loop.time())

    def close(self) -> None:
        """Let go of the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def failure(self) -> str | None:
        """Why there are no new samples, or None."""
        return self._failure

    @property
    def latest(self) -> bytes | None:
        """The newest sample, JSON, unless it is too old to tell anything."""
        if not self._ring or time.time() - self._ring[-1][0] > 5 * PERIOD_S:
            return None
        return self._ring[-1][1]

    def since(self, time_s: float) -> list[bytes]:
        """Samples taken after ``time_s``, oldest first."""
        return [sample for taken_s, sample in self._ring if taken_s > time_s]

    async def following(self, time_s: float) -> tuple[float, bytes]:
        """Wait for a sample newer than ``time_s``; returns its time and itself."""
        async with self._next:
            await self._next.wait_for(lambda: bool(self._ring) and self._ring[-1][0] > time_s)
            return self._ring[-1]

    def _sample(self) -> tuple[float, bytes]:
        counters = self._read()
        time_s = time.time()
        return time_s, json.dumps({"time": time_s, **counters}, separators=(",", ":")).encode()
