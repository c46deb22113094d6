"""The live stream: one upstream to the agent for the whole process, fanned out to the browsers."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

from django.conf import settings

from appliance.client import AsyncAgentClient
from appliance.errors import MillraceError
from webui.errors import RequestProblem

_log = logging.getLogger(__name__)
HEARTBEAT_S = 15.0
RETRY_S = 1.0
LONGEST_S = 900.0
"""A stream ends after this long; the browser comes again, and its role is looked at anew."""
MAX_LISTENERS = 200
_BACKLOG = 5
"""Events a slow listener may lag behind; older ones are dropped."""


class Upstream(Protocol):
    """What the stream needs of the agent's client."""

    def counters_stream(self) -> AsyncIterator[dict[str, Any]]:
        """Samples, one a second."""
        ...

    async def aclose(self) -> None:
        """Close its connections."""
        ...


def _connect() -> Upstream:
    return AsyncAgentClient(settings.AGENT_SOCKET)


class Broadcast:
    """Listens to the agent while anybody listens to it."""

    def __init__(self, connect: Callable[[], Upstream] = _connect) -> None:
        self._connect = connect
        self._listeners: set[asyncio.Queue[str]] = set()
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[asyncio.Queue[str]]:
        """A queue of server-sent events. Raises RequestProblem (503) with too many listeners."""
        if len(self._listeners) >= MAX_LISTENERS:
            raise RequestProblem(503, "Too many live streams are open.", {"Retry-After": "10"})
        queue: asyncio.Queue[str] = asyncio.Queue(_BACKLOG)
        self._listeners.add(queue)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            yield queue
        finally:
            self._listeners.discard(queue)
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    async def _run(self) -> None:
        while True:
            client = self._connect()
            try:
                async for sample in client.counters_stream():
                    self._tell("sample", sample)
            except MillraceError as error:
                self._tell("gap", {"detail": str(error)})
            except Exception:
                _log.exception("the live stream broke")
                self._tell("gap", {"detail": "the live stream broke"})
            finally:
                await client.aclose()
            await asyncio.sleep(RETRY_S)

    def _tell(self, event: str, data: dict[str, Any]) -> None:
        text = f"event: {event}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
        for queue in self._listeners:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(text)


_broadcasts: dict[asyncio.AbstractEventLoop, Broadcast] = {}


def broadcast() -> Broadcast:
    """The broadcast of the running event loop; a process has one loop."""
    loop = asyncio.get_running_loop()
    for other in [known for known in _broadcasts if known.is_closed()]:
        del _broadcasts[other]
    return _broadcasts.setdefault(loop, Broadcast())


async def events(longest_s: float = LONGEST_S, heartbeat_s: float = HEARTBEAT_S) -> AsyncIterator[str]:
    """Server-sent events for one browser, until it goes away or the time is up."""
    loop = asyncio.get_running_loop()
    end = loop.time() + longest_s
    async with broadcast().listening() as queue:
        yield "retry: 2000\n\n"
        while (left := end - loop.time()) > 0:
            try:
                yield await asyncio.wait_for(queue.get(), min(heartbeat_s, left))
            except TimeoutError:
                yield ": still here\n\n"
