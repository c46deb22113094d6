"""Streams: they hold no thread, and end when their reader leaves, stalls or may no longer read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.http import HttpResponse, HttpResponseBase

from appliance.state.counter_selection import Selection
from webui.http.handler import LaneHandler
from webui.http.lanes import LaneSize
from webui.http.live_response import LiveResponse
from webui.metrics import live

SCOPE: dict[str, Any] = {"type": "http", "method": "GET", "path": "/x", "headers": [], "client": ("a", 1)}
SMALL = {"read": LaneSize(threads=1, waiting=1), "check": LaneSize(threads=1, waiting=8)}


class _Handler(LaneHandler):
    """Answers without Django."""

    def __init__(self, answer: Callable[[], HttpResponseBase], **more: Any) -> None:
        super().__init__(SMALL, **more)
        self.answer = answer

    def _respond(self, scope: dict[str, Any], body: Any) -> HttpResponseBase:
        return self.answer()


class _Reader:
    """The other end: what it received, and when it takes more or disconnects."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.takes = asyncio.Event()
        self.takes.set()
        self.gone = asyncio.Event()
        self._asked = False

    async def receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        await self.takes.wait()
        self.got.append(message)


async def _endless() -> AsyncIterator[bytes]:
    while True:
        yield b"x"
        await asyncio.sleep(0.01)


def _stream(still_allowed: Callable[[], bool] = lambda: True) -> HttpResponseBase:
    return LiveResponse(_endless(), still_allowed, "text/event-stream")


async def test_open_streams_leave_the_only_thread_to_others() -> None:
    handler, readers = _Handler(_stream), [_Reader() for _ in range(20)]
    serving = []
    for reader in readers:
        serving.append(asyncio.create_task(handler(SCOPE, reader.receive, reader.send)))
        while len(reader.got) < 3:
            await asyncio.sleep(0.005)
    handler.answer = lambda: HttpResponse("here")
    other = _Reader()
    await handler(SCOPE, other.receive, other.send)
    assert other.got[1]["body"] == b"here"
    for reader in readers:
        reader.gone.set()
    await asyncio.gather(*serving)


async def test_a_stream_ends_when_its_reader_may_no_longer_read() -> None:
    allowed = [True, True, False]
    reader = _Reader()
    handler = _Handler(lambda: _stream(lambda: allowed.pop(0)), recheck_s=0.02)
    async with asyncio.timeout(20):
        await handler(SCOPE, reader.receive, reader.send)
    assert not allowed and len(reader.got) > 1


async def test_a_stream_ends_when_it_cannot_be_known_whether_its_reader_may_read() -> None:
    def broken() -> bool:
        raise RuntimeError("no database")

    reader = _Reader()
    async with asyncio.timeout(20):
        await _Handler(lambda: _stream(broken), recheck_s=0.02)(SCOPE, reader.receive, reader.send)


async def test_a_reader_who_takes_nothing_is_dropped() -> None:
    reader = _Reader()
    handler = _Handler(_stream, slowest_send_s=0.05)
    serving = asyncio.create_task(handler(SCOPE, reader.receive, reader.send))
    while len(reader.got) < 3:
        await asyncio.sleep(0.005)
    reader.takes.clear()
    async with asyncio.timeout(20):
        await serving


async def test_a_slow_listener_skips_with_a_marker_and_holds_a_few_events_at_most() -> None:
    listener = live.Listener(Selection())
    for number in range(50):
        listener.put(str(number).encode())
    got = [await listener.get() for _ in range(6)]
    assert got[0] == b'event: skipped\ndata: {"events":45}\n\n'
    assert got[1:] == [b"45", b"46", b"47", b"48", b"49"]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(listener.get(), 0.01)


async def test_a_sample_is_made_into_text_once_for_all_who_select_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    event = live._event

    def noted(name: str, data: Any) -> bytes:
        made.append(name)
        return event(name, data)

    monkeypatch.setattr(live, "_event", noted)
    shared = live.Broadcast()
    one, other = Selection(frozenset(["rx_bytes"]), frozenset(["lan0"])), Selection(frozenset(["workers"]))
    listeners = [live.Listener(selection) for selection in (one, one, one, other)]
    shared._listeners.update(dict.fromkeys(listeners))
    counters = {"rx_bytes": 7, "tx_bytes": 8}
    shared._show(
        {"time": 1.0, "interfaces": {"lan0": counters, "wan0": counters}, "workers": [], "drops": {}}
    )
    texts = [await listener.get() for listener in listeners]
    assert texts[0] is texts[1] is texts[2] and made == ["sample", "sample"]
    data = [json.loads(text.decode().split("data: ")[1]) for text in (texts[0], texts[3])]
    assert data == [{"time": 1.0, "interfaces": {"lan0": {"rx_bytes": 7}}}, {"time": 1.0, "workers": []}]
