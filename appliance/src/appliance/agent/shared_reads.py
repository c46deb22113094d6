"""One reading at a time for many concurrent callers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class SharedReads:
    """Readings of one part of the router, in a thread of their own; callers with equal questions share one.

    An answer is never older than its question: all callers that ask while a reading is under way get the next
    one together. A part that does not answer delays no other part.
    """

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=f"state-{name}")
        self._due: dict[Hashable, asyncio.Task[Any]] = {}
        self._running: dict[Hashable, asyncio.Task[Any]] = {}

    async def read(self, what: Hashable, reading: Callable[[], Any]) -> Any:
        """The outcome of ``reading``, or of an equal one that begins after this call.

        Readings with the same ``what`` are equal.
        """
        task = self._due.get(what)
        if task is None:
            task = self._due[what] = asyncio.create_task(self._follow(what, reading))
            task.add_done_callback(_seen)
        return await asyncio.shield(task)

    def close(self) -> None:
        """Release the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _follow(self, what: Hashable, reading: Callable[[], Any]) -> Any:
        before = self._running.get(what)
        if before is not None:
            await asyncio.wait([before])
        task = self._running[what] = self._due.pop(what)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, reading)
        finally:
            if self._running.get(what) is task:
                del self._running[what]


def _seen(task: asyncio.Task[Any]) -> None:
    """An error for which nobody waits any more is dropped."""
    if not task.cancelled():
        task.exception()
