"""Lanes: how many requests of a kind run at once, how many may wait, and which are refused.

Reads never keep out writes: each lane has threads and places of its own. A full lane refuses the newest
request at once, and one client never takes all the waiting places.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from webui.accounts.attempt_limits import Limit

T = TypeVar("T")
LONGEST_WAIT_S = 2.0
"""The longest wait for a thread: a caller who asks again later is served sooner than one who queues."""
_SHARE = 0.75
"""The part of the waiting places that one client may hold."""


class LaneFull(Exception):
    """The request was not started, because its lane has no place for it."""


@dataclass(frozen=True)
class LaneSize:
    """Bounds of one lane."""

    threads: int
    """Requests that run at once; each thread keeps one connection to the database."""
    waiting: int
    """Requests that may wait for a thread."""
    pace: Limit | None = None
    """How many may begin, however fast the threads are; such a lane serves by rank."""


class Lane:
    """Runs work in its own threads, first come, first served. Used from one event loop."""

    def __init__(self, name: str, size: LaneSize, longest_wait_s: float = LONGEST_WAIT_S) -> None:
        self.name, self.size = name, size
        self._longest_wait_s = longest_wait_s
        self._most_of_one = max(1, int(size.waiting * _SHARE))
        self._free = asyncio.Semaphore(size.threads)
        self._waiting: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(size.threads, thread_name_prefix=f"lane-{name}")

    @property
    def waiting(self) -> int:
        """How many requests wait for a thread."""
        return self._waiting.total()

    async def run(self, client: str, work: Callable[[], T], rank: float = 0.0) -> T:
        """The result of `work`, run in a thread of the lane. Raises LaneFull when it was not started.

        A lane that serves by rank starts the lowest first.
        """
        await self._enter(client, rank)
        loop = asyncio.get_running_loop()
        begun_s = loop.time()

        def leave(_: Future[Any]) -> None:
            loop.call_soon_threadsafe(lambda: self._leave(loop.time() - begun_s))

        # The place is released when the thread is done, not when the caller stops waiting for it.
        running = self._pool.submit(work)
        running.add_done_callback(leave)
        return await asyncio.wrap_future(running)

    def close(self) -> None:
        """End the threads; work that still waits for one is not started."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _leave(self, took_s: float) -> None:  # noqa: ARG002 - a lane that measures its work asks for it
        self._free.release()

    async def _enter(self, client: str, rank: float) -> None:  # noqa: ARG002 - all are equal here
        if not self._free.locked():
            await self._free.acquire()
            return
        if self.waiting >= self.size.waiting or self._waiting[client] >= self._most_of_one:
            raise LaneFull(self.name)
        self._waiting[client] += 1
        try:
            async with asyncio.timeout(self._longest_wait_s):
                await self._free.acquire()
        except TimeoutError:
            raise LaneFull(self.name) from None
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client]
