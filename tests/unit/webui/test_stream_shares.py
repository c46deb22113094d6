"""Live streams are shared: by user and by source, and nobody who holds more keeps others out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from webui.metrics import live
from webui.metrics.live import MAX_LISTENERS, MOST_OF_ONE, Broadcast, NoPlace


class _Silent:
    async def counters_stream(self) -> AsyncIterator[dict[str, Any]]:
        await asyncio.Event().wait()
        yield {}

    async def aclose(self) -> None:
        pass


async def test_one_user_and_one_source_have_half_of_them_at_most() -> None:
    shared = Broadcast(_Silent)
    async with AsyncExitStack() as stack:
        for number in range(MOST_OF_ONE):
            await stack.enter_async_context(shared.listening(user="ann", source=str(number)))
        with pytest.raises(NoPlace):
            await stack.enter_async_context(shared.listening(user="ann", source="elsewhere"))
    async with AsyncExitStack() as stack:
        for number in range(MOST_OF_ONE):
            await stack.enter_async_context(shared.listening(user=str(number), source="2001:db8::"))
        with pytest.raises(NoPlace):
            await stack.enter_async_context(shared.listening(user="ann", source="2001:db8::"))
        await stack.enter_async_context(shared.listening(user="ann", source="2001:db8:0:1::"))
    assert shared.listeners == 0


async def test_with_all_places_taken_who_holds_most_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Broadcast(_Silent)
    monkeypatch.setattr(live, "broadcast", lambda: shared)
    async with AsyncExitStack() as stack:
        hogs = [
            await stack.enter_async_context(shared.listening(user=user, source=user))
            for user in ("ann", "bob")
            for _ in range(MAX_LISTENERS // 2)
        ]
        stream = live.events(user="eve", source="eve")
        assert await anext(stream) == b"retry: 2000\n\n"
        assert [one.displaced for one in hogs[:2]] == [True, False], "the oldest of one of them"
        assert b"Others need the place" in await hogs[0].get() and hogs[0].is_empty
        assert shared.listeners == MAX_LISTENERS
        refused = [one async for one in live.events(user="ann", source="elsewhere")]
        assert refused[0].startswith(b"retry: 10000\n\nevent: gap")
        await stream.aclose()  # type: ignore[attr-defined]  # an async generator, typed as an iterator


async def test_a_displaced_stream_says_so_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Broadcast(_Silent)
    monkeypatch.setattr(live, "broadcast", lambda: shared)
    stream = live.events(user="ann", source="ann")
    await anext(stream)
    for listener in list(shared._listeners):
        listener.displace()
    assert [one.split(b"\n")[0] async for one in stream] == [b"event: gap"]
    assert shared.listeners == 0
