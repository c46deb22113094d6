"""One reading for all who ask alike at the same time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any


class SharedReads:
    """Reads in a pool of threads. Of each kind one reading is under way, and at most one more is waited for.

    Nobody gets an answer whose reading began before they asked: it could lack what they have just changed.
    """

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._next: dict[str, asyncio.Task[bytes]] = {}
        self._under_way: dict[str, asyncio.Task[bytes]] = {}

    async def answer(self, kind: str, read: Callable[[], Any]) -> bytes:
        """What `read` gives, as JSON. Raises what `read` raises, to all who share it."""
        task = self._next.get(kind)
        if task is None:
            task = self._next[kind] = asyncio.create_task(self._run(kind, read))
        # One who leaves does not take the answer from the others.
        return await asyncio.shield(task)

    async def _run(self, kind: str, read: Callable[[], Any]) -> bytes:
        while (before := self._under_way.get(kind)) is not None:
            await asyncio.wait((before,))
        task = self._under_way[kind] = self._next.pop(kind)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: _text(read()))
        finally:
            if self._under_way.get(kind) is task:
                del self._under_way[kind]


def _text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
