"""Lanes: how many requests of a kind run at once, how many may wait, and which are refused.

Reads never keep out writes: each lane has threads and places of its own. A full lane refuses the newest
request at once, and one client never takes all the waiting places. Strangers leave a thread and half of the
places to those who are signed in, who also go first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
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

    @property
    def threads_of_strangers(self) -> int:
        """How many of the threads may work for strangers: the only one, or all but one."""
        return max(1, self.threads - 1)

    @property
    def waiting_strangers(self) -> int:
        """How many of the waiting may be strangers."""
        return max(1, self.waiting // 2)


@dataclass(eq=False)
class _Ticket:
    client: str
    stranger: bool
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    begun: bool = False


class Lane:
    """Runs work in its own threads, users before strangers, else in order. Used from one event loop."""

    def __init__(self, name: str, size: LaneSize, longest_wait_s: float = LONGEST_WAIT_S) -> None:
        self.name, self.size = name, size
        self._longest_wait_s = longest_wait_s
        self._idle = size.threads
        self._strangers = 0
        self._waiting: list[_Ticket] = []
        self._pool = ThreadPoolExecutor(size.threads, thread_name_prefix=f"lane-{name}")

    @property
    def waiting(self) -> int:
        """How many requests wait for a thread."""
        return len(self._waiting)

    @property
    def idle(self) -> int:
        """How many threads have nothing to do."""
        return self._idle

    async def run(self, client: str, work: Callable[[], T], rank: float = 0.0, stranger: bool = False) -> T:
        """The result of `work`, run in a thread of the lane. Raises LaneFull when it was not started.

        A lane that serves by rank starts the lowest first.
        """
        await self._enter(client, rank, stranger)
        loop = asyncio.get_running_loop()
        begun_s = loop.time()

        def leave(_: Future[Any]) -> None:
            loop.call_soon_threadsafe(lambda: self._leave(loop.time() - begun_s, stranger))

        # The place is released when the thread is done, not when the caller stops waiting for it.
        running = self._pool.submit(work)
        running.add_done_callback(leave)
        return await asyncio.wrap_future(running)

    def close(self) -> None:
        """End the threads; work that still waits for one is not started."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _leave(self, took_s: float, stranger: bool) -> None:  # noqa: ARG002 - a lane that measures its work asks for it
        self._idle += 1
        self._strangers -= stranger
        self._begin_next()

    async def _enter(self, client: str, rank: float, stranger: bool) -> None:  # noqa: ARG002 - all are equal here
        # Nobody who could begin ever waits while a thread is idle.
        if self._may_begin(stranger):
            self._begin(stranger)
            return
        alike = [one for one in self._waiting if one.stranger] if stranger else self._waiting
        places = self.size.waiting_strangers if stranger else self.size.waiting
        of_this_one = sum(one.client == client for one in alike)
        if (
            self.waiting >= self.size.waiting
            or len(alike) >= places
            or of_this_one >= max(1, int(places * _SHARE))
        ):
            raise LaneFull(self.name)
        ticket = _Ticket(client, stranger)
        self._waiting.append(ticket)
        try:
            async with asyncio.timeout(self._longest_wait_s):
                await ticket.turn
        except BaseException as error:
            if ticket.begun:  # its turn came while it gave up
                self._leave(0.0, stranger)
            elif ticket in self._waiting:
                self._waiting.remove(ticket)
            if isinstance(error, TimeoutError):
                raise LaneFull(self.name) from None
            raise

    def _may_begin(self, stranger: bool) -> bool:
        return self._idle > 0 and (not stranger or self._strangers < self.size.threads_of_strangers)

    def _begin(self, stranger: bool) -> None:
        self._idle -= 1
        self._strangers += stranger

    def _begin_next(self) -> None:
        for ticket in sorted(self._waiting, key=lambda one: one.stranger):
            if not self._may_begin(ticket.stranger):
                return
            self._waiting.remove(ticket)
            if not ticket.turn.done():  # its caller did not give up
                ticket.begun = True
                self._begin(ticket.stranger)
                ticket.turn.set_result(None)
