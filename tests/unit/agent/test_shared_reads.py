"""One reading at a time for all who ask, and none of them gets an answer older than the question."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from appliance.agent.shared_reads import SharedReads


def _run(work: object) -> None:
    asyncio.run(work)  # type: ignore[arg-type]  # a coroutine


def test_a_hundred_who_ask_meanwhile_share_the_next_reading() -> None:
    begun, gate = threading.Semaphore(0), threading.Event()
    count = 0

    def reading() -> int:
        nonlocal count
        count += 1
        mine = count
        begun.release()
        gate.wait(10)
        return mine

    async def work() -> None:
        shared = SharedReads("test")
        first = asyncio.create_task(shared.read("x", reading))
        await asyncio.to_thread(begun.acquire)
        others = [asyncio.create_task(shared.read("x", reading)) for _ in range(100)]
        await asyncio.sleep(0)
        gate.set()
        assert await first == 1
        assert set(await asyncio.gather(*others)) == {2}
        assert count == 2
        assert await shared.read("x", reading) == 3
        shared.close()

    _run(work())


def test_different_questions_are_not_mixed_up() -> None:
    async def work() -> None:
        shared = SharedReads("test")
        found = await asyncio.gather(*(shared.read(at % 3, partial(int, at % 3)) for at in range(9)))
        assert found == [at % 3 for at in range(9)]
        shared.close()

    _run(work())


def test_an_error_reaches_all_who_asked_and_nobody_later() -> None:
    def broken() -> None:
        raise OSError("away")

    async def work() -> None:
        shared = SharedReads("test")
        failed = await asyncio.gather(*(shared.read("x", broken) for _ in range(3)), return_exceptions=True)
        assert [str(error) for error in failed] == ["away"] * 3
        assert await shared.read("x", lambda: 1) == 1
        shared.close()

    _run(work())


def test_one_who_goes_away_does_not_take_the_answer_along() -> None:
    begun, gate = threading.Semaphore(0), threading.Event()

    def reading() -> int:
        begun.release()
        gate.wait(10)
        return 7

    async def work() -> None:
        shared = SharedReads("test")
        leaving = asyncio.create_task(shared.read("x", reading))
        staying = asyncio.create_task(shared.read("x", reading))
        await asyncio.to_thread(begun.acquire)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        gate.set()
        assert await staying == 7
        shared.close()

    _run(work())
