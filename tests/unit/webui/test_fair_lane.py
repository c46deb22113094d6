"""The lane of strangers: the source with the fewest attempts goes first, and a flood keeps no newcomer
out.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from webui.accounts.attempt_limits import Limit
from webui.http.fair_lane import MOST_OF_ONE, QUEUE_S, FairLane
from webui.http.lanes import LaneFull, LaneSize

UNPACED = Limit(10_000, 0.001)


class _Work:
    """Work that lasts until it is released, and records whose work began."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun: list[str] = []

    def of(self, name: str) -> Callable[[], str]:
        def work() -> str:
            self.begun.append(name)
            assert self.go.wait(20)
            return name

        return work


def _lane(waiting: int = 4, pace: Limit = UNPACED, **more: Any) -> FairLane:
    return FairLane("x", LaneSize(threads=1, waiting=waiting, pace=pace), **more)


async def _ask(
    lane: FairLane, work: _Work, client: str, rank: float, name: str | None = None
) -> asyncio.Task[str]:
    """Submits work and returns its task, which is then in the queue or refused."""
    task = asyncio.create_task(lane.run(client, work.of(name or client), rank))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return task


async def test_a_newcomer_goes_before_everybody_who_came_earlier() -> None:
    lane, work = _lane(), _Work()
    flood = [
        await _ask(lane, work, client, rank) for client, rank in (("a", 9), ("b", 8), ("a", 10), ("c", 7))
    ]
    newcomer = await _ask(lane, work, "new", 0)
    while not work.begun:
        await asyncio.sleep(0.01)
    work.go.set()
    assert await newcomer == "new"
    await asyncio.gather(*flood)
    assert work.begun == ["a", "new", "c", "b", "a"]
    lane.close()


async def test_a_full_queue_sends_away_who_tried_most() -> None:
    lane, work = _lane(waiting=3), _Work()
    working = await _ask(lane, work, "z", 10)
    waiting = {rank: await _ask(lane, work, f"c{rank}", rank) for rank in (5, 9, 7)}
    newcomer = await _ask(lane, work, "new", 0)
    with pytest.raises(LaneFull):
        await waiting[9]
    assert lane.waiting == 3 and not newcomer.done()
    with pytest.raises(LaneFull):
        await lane.run("worse", work.of("worse"), 8)
    # Among equals the newest is dropped: nobody is put off for ever by others with as few attempts.
    with pytest.raises(LaneFull):
        await lane.run("equal", work.of("equal"), 7)
    work.go.set()
    await asyncio.gather(working, newcomer, waiting[5], waiting[7])
    assert work.begun == ["z", "new", "c5", "c7"]
    lane.close()


async def test_one_client_holds_few_places() -> None:
    lane, work = _lane(), _Work()
    tasks = [await _ask(lane, work, "a", 0) for _ in range(1 + MOST_OF_ONE)]
    for _ in range(100):
        with pytest.raises(LaneFull):
            await lane.run("a", work.of("a"), 0)
    tasks.append(await _ask(lane, work, "b", 0))
    work.go.set()
    assert await asyncio.gather(*tasks) == ["a", "a", "a", "b"]
    lane.close()


async def test_the_pace_holds_for_all_and_the_least_tried_is_next() -> None:
    now = 0.0
    lane, work = _lane(pace=Limit(1, 0.05), clock=lambda: now), _Work()
    work.go.set()
    assert await lane.run("first", work.of("first"), 0) == "first"
    later = [await _ask(lane, work, client, rank) for client, rank in (("a", 5), ("b", 1))]
    await asyncio.sleep(0.12)  # the thread is free, and its clock stands still
    assert work.begun == ["first"]
    now = 0.05
    while len(work.begun) < 2:
        await asyncio.sleep(0.01)
    assert work.begun == ["first", "b"] and not later[0].done()
    now = 0.1
    await asyncio.gather(*later)
    lane.close()


async def test_the_slower_the_work_the_fewer_wait_for_it() -> None:
    lane = _lane(waiting=8)
    assert lane.room == 8
    lane._idle -= 1
    lane._leave(QUEUE_S / 3, True)
    assert lane.room == 3
    lane._idle -= 1
    lane._leave(100.0, True)
    assert lane.room == 2
    for _ in range(100):
        lane._idle -= 1
        lane._leave(0.001, True)
    assert lane.room == 8
    lane.close()


async def test_nobody_waits_for_ever_or_leaves_a_place_behind() -> None:
    lane, work = _lane(longest_wait_s=0.05), _Work()
    working = await _ask(lane, work, "a", 0)
    with pytest.raises(LaneFull):
        await lane.run("b", work.of("b"), 0)
    gone = await _ask(lane, work, "c", 0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    assert lane.waiting == 0
    work.go.set()
    assert await working == "a"
    assert await lane.run("d", work.of("d"), 0) == "d" and work.begun == ["a", "d"]
    lane.close()


async def test_who_gave_up_just_now_is_neither_begun_nor_sent_away() -> None:
    lane, work = _lane(waiting=1), _Work()
    working = await _ask(lane, work, "a", 0)
    gone = await _ask(lane, work, "b", 9)
    # Its future is cancelled at once; its task takes the ticket out when it runs next.
    gone.cancel()
    (ticket,) = lane._queue
    assert ticket.turn.cancelled()
    lane._give_back()  # a thread is free just then
    assert lane._idle == 1 and lane.waiting == 0
    lane._idle -= 1
    later = await _ask(lane, work, "c", 0)
    work.go.set()
    assert list(await asyncio.gather(working, later)) == ["a", "c"]
    assert lane.waiting == 0
    lane.close()
