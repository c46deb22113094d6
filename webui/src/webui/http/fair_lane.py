"""A lane that serves the client with the fewest recent requests next, so that a flood waits behind everybody
else.

First come, first served would favor the flood, which always comes first. Here each client may hold few
places, the one with the lowest rank begins, and a full queue drops the one with the highest.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from webui.accounts.attempt_limits import Attempts
from webui.http.lanes import LONGEST_WAIT_S, Lane, LaneFull, LaneSize

MOST_OF_ONE = 2
"""The most places that one client may hold."""
QUEUE_S = 1.5
"""The queue holds as many requests as are finished in this time, by the recent duration of the work."""
_LEAST_ROOM = 2
_LATELY = 0.3
_ALL = "all"


@dataclass(eq=False)
class _Ticket:
    client: str
    rank: float
    number: int
    """Of two with equal rank, the earlier one begins first."""
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    begun: bool = False

    @property
    def order(self) -> tuple[float, int]:
        return self.rank, self.number


class FairLane(Lane):
    """A lane by rank, with `size.pace` as the common rate. Used from one event loop."""

    def __init__(
        self,
        name: str,
        size: LaneSize,
        longest_wait_s: float = LONGEST_WAIT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(name, size, longest_wait_s)
        self._queue: list[_Ticket] = []
        self._numbered = 0
        self._pace = None if size.pace is None else Attempts(size.pace, clock)
        self._due: asyncio.TimerHandle | None = None
        self._work_s = 0.0

    @property
    def waiting(self) -> int:
        """How many requests wait for a thread."""
        return len(self._queue)

    @property
    def room(self) -> int:
        """How many may wait."""
        if not self._work_s:
            return self.size.waiting
        return max(_LEAST_ROOM, min(self.size.waiting, int(QUEUE_S * self.size.threads / self._work_s)))

    async def _enter(self, client: str, rank: float, stranger: bool) -> None:  # noqa: ARG002 - only strangers come here
        if sum(one.client == client for one in self._queue) >= MOST_OF_ONE:
            raise LaneFull(self.name)
        self._numbered += 1
        ticket = _Ticket(client, rank, self._numbered)
        self._queue.append(ticket)
        self._begin_next()
        if len(self._queue) > self.room:
            last = max(self._queue, key=lambda one: one.order)
            self._queue.remove(last)
            if last is ticket:
                raise LaneFull(self.name)
            last.turn.set_exception(LaneFull(self.name))
        try:
            async with asyncio.timeout(self._longest_wait_s):
                await ticket.turn
        except BaseException as error:
            if ticket.begun:
                self._give_back()
            elif ticket in self._queue:
                self._queue.remove(ticket)
            if isinstance(error, TimeoutError):
                raise LaneFull(self.name) from None
            raise

    def _leave(self, took_s: float, stranger: bool) -> None:  # noqa: ARG002 - only strangers come here
        self._work_s += (took_s - self._work_s) * (_LATELY if self._work_s else 1.0)
        self._give_back()

    def _give_back(self) -> None:
        self._idle += 1
        self._begin_next()

    def _begin_next(self) -> None:
        """Start the requests whose turn it is; run again when the pace allows the next one."""
        # A caller that gave up may not have run since, and its ticket may still be in the queue.
        self._queue = [one for one in self._queue if not one.turn.done()]
        while self._queue and self._idle:
            if self._pace is not None and (wait_s := self._pace.take(_ALL)):
                if self._due is None:
                    self._due = asyncio.get_running_loop().call_later(wait_s, self._again)
                return
            first = min(self._queue, key=lambda one: one.order)
            self._queue.remove(first)
            self._idle -= 1
            first.begun = True
            first.turn.set_result(None)

    def _again(self) -> None:
        self._due = None
        self._begin_next()
