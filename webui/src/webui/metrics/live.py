"""The live stream: one upstream to the agent for the whole process, fanned out to the browsers."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from django.conf import settings

from appliance.client import AsyncAgentClient
from appliance.errors import MillraceError
from appliance.state.counter_selection import EVERYTHING, Selection

_log = logging.getLogger(__name__)
HEARTBEAT_S = 15.0
RETRY_S = 1.0
LONGEST_S = 900.0
"""A stream ends after this long; the browser comes again."""
MAX_LISTENERS = 200
MOST_OF_ONE = 100
"""The most streams of one user, and of one source (an IPv6 /64)."""
_BACKLOG = 5
"""The most events that a slow listener may lag behind; older ones are skipped."""


class Upstream(Protocol):
    """The methods of the agent's client that the stream uses."""

    def counters_stream(self) -> AsyncIterator[dict[str, Any]]:
        """Samples, one a second."""
        ...

    async def aclose(self) -> None:
        """Close its connections."""
        ...


def _connect() -> Upstream:
    return AsyncAgentClient(settings.AGENT_SOCKET)


class NoPlace(Exception):
    """There is no room for another listener."""


class Listener:
    """The events that one reader has not taken yet (a few), and the number of skipped ones."""

    def __init__(self, selection: Selection, user: str = "", source: str = "") -> None:
        self.selection, self.user, self.source = selection, user, source
        self.displaced = False
        self._events: deque[bytes] = deque()
        self._skipped = 0
        self._something = asyncio.Event()

    def put(self, event: bytes) -> None:
        """Add an event; when the reader is slow, the oldest is skipped."""
        if len(self._events) >= _BACKLOG:
            self._events.popleft()
            self._skipped += 1
        self._events.append(event)
        self._something.set()

    @property
    def is_empty(self) -> bool:
        """Whether its reader has taken everything."""
        return not self._something.is_set()

    def displace(self) -> None:
        """End the stream after what is waiting."""
        self.displaced = True
        self.put(_event("gap", {"detail": "Others need the place of this live stream."}))

    async def get(self) -> bytes:
        """The next event; after skipped events, first an event with their number."""
        await self._something.wait()
        if self._skipped:
            skipped, self._skipped = self._skipped, 0
            return _event("skipped", {"events": skipped})
        event = self._events.popleft()
        if not self._events:
            self._something.clear()
        return event


class Broadcast:
    """Listens to the agent while it has listeners itself."""

    def __init__(self, connect: Callable[[], Upstream] = _connect) -> None:
        self._connect = connect
        # In the order of their arrival.
        self._listeners: dict[Listener, None] = {}
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listening(
        self, selection: Selection = EVERYTHING, user: str = "", source: str = ""
    ) -> AsyncIterator[Listener]:
        """A new listener, who receives the selected values. Raises NoPlace.

        With all places taken, who has two more than the newcomer's user gives up the oldest.
        """
        listener = Listener(selection, user, source)
        self._make_room(listener)
        self._listeners[listener] = None
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            yield listener
        finally:
            self._listeners.pop(listener, None)
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def _make_room(self, new: Listener) -> None:
        users = Counter(one.user for one in self._listeners)
        sources = Counter(one.source for one in self._listeners)
        if users[new.user] >= MOST_OF_ONE or sources[new.source] >= MOST_OF_ONE:
            raise NoPlace
        if self.listeners < MAX_LISTENERS:
            return
        most = max(users.values())
        if most < users[new.user] + 2:
            raise NoPlace
        oldest = next(one for one in self._listeners if users[one.user] == most)
        del self._listeners[oldest]
        oldest.displace()

    async def _run(self) -> None:
        while True:
            client = self._connect()
            try:
                async for sample in client.counters_stream():
                    self._show(sample)
            except MillraceError as error:
                self._tell("gap", {"detail": str(error)})
            except Exception:
                _log.exception("the live stream broke")
                self._tell("gap", {"detail": "the live stream broke"})
            finally:
                await client.aclose()
            await asyncio.sleep(RETRY_S)

    def _show(self, sample: Mapping[str, Any]) -> None:
        """Give a sample to all listeners; a selection shared by several is formatted once."""
        texts: dict[Selection, bytes] = {}
        for listener in self._listeners:
            text = texts.get(listener.selection)
            if text is None:
                text = texts[listener.selection] = _event("sample", listener.selection.of(sample))
            listener.put(text)

    def _tell(self, event: str, data: dict[str, Any]) -> None:
        text = _event(event, data)
        for listener in self._listeners:
            listener.put(text)


_broadcasts: dict[asyncio.AbstractEventLoop, Broadcast] = {}


def broadcast() -> Broadcast:
    """The broadcast of the running event loop; a process has one loop."""
    loop = asyncio.get_running_loop()
    for other in [known for known in _broadcasts if known.is_closed()]:
        del _broadcasts[other]
    return _broadcasts.setdefault(loop, Broadcast())


async def events(
    selection: Selection = EVERYTHING,
    longest_s: float = LONGEST_S,
    heartbeat_s: float = HEARTBEAT_S,
    user: str = "",
    source: str = "",
) -> AsyncIterator[bytes]:
    """Server-sent events for one browser, until it disconnects or the time is up. Without a free place:
    only a gap.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + longest_s
    try:
        async with broadcast().listening(selection, user, source) as listener:
            yield b"retry: 2000\n\n"
            while (left := end - loop.time()) > 0 and not (listener.displaced and listener.is_empty):
                try:
                    yield await asyncio.wait_for(listener.get(), min(heartbeat_s, left))
                except TimeoutError:
                    yield b": still here\n\n"
    except NoPlace:
        yield b"retry: 10000\n\n" + _event("gap", {"detail": "Too many live streams are open."})


def _event(name: str, data: Mapping[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
