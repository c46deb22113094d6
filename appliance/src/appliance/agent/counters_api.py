"""Counters: the latest sample, the last five minutes, a stream, and the hits of access lists."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from aiohttp import web

from appliance.agent.bodies import query
from appliance.agent.cleared_counters import LOOK_EVERY_S, ClearedCounters
from appliance.agent.hits import Hits
from appliance.agent.peers import peer
from appliance.agent.requests import HistoryQuery, SelectionQuery
from appliance.agent.samples import Kept, Samples
from appliance.errors import MillraceError, RouterUnavailable
from appliance.state.counter_selection import Selection, parse

MAX_STREAMS = 16
MOST_OF_A_USER = 12
"""Of one user on this host: the web half, which needs one, and whoever is at the command line share them."""
"""The web process needs one; a command line one each."""
SLOWEST_WRITE_S = 10.0
"""A client that reads nothing for this long is dropped."""


class CountersApi:
    """Handlers around the ring of samples and the latest hits."""

    def __init__(self, samples: Samples, hits: Hits, slowest_write_s: float = SLOWEST_WRITE_S) -> None:
        self._samples, self._hits, self._slowest_write_s = samples, hits, slowest_write_s
        self._streams: dict[asyncio.Task[None], int] = {}
        """With the user at the other end."""
        # Long answers are serialized here rather than on the event loop.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="history")

    def routes(self) -> list[web.RouteDef]:
        """The endpoints."""
        return [
            web.get("/v1/counters", self.latest),
            web.get("/v1/counters/history", self.history),
            web.get("/v1/counters/stream", self.stream),
            web.get("/v1/counters/acls", self.acl_totals),
            web.get("/v1/counters/acls/{name}", self.acl_hits),
        ]

    def close(self) -> None:
        """Release the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def latest(self, request: web.Request) -> web.Response:
        """The newest sample."""
        sample = self._samples.latest(_selection(query(request, SelectionQuery)))
        if sample is None:
            raise RouterUnavailable(self._samples.failure or "there is no sample yet")
        return web.Response(body=sample, content_type="application/json")

    async def history(self, request: web.Request) -> web.Response:
        """``samples`` of the last seconds, oldest first: ``time`` and ``interfaces``."""
        asked = query(request, HistoryQuery)
        selection = _selection(asked)
        found = self._samples.since(time.time() - asked.seconds)
        return await self._answer(lambda: _history(found, selection))

    async def acl_totals(self, _request: web.Request) -> web.Response:
        """Hits of each access list, all its rules together."""
        return await self._answer(self._hits.totals)

    async def acl_hits(self, request: web.Request) -> web.Response:
        """Hits of the rules of one access list."""
        name = request.match_info["name"]
        return await self._answer(lambda: self._hits.of(name))

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Each new sample as a line of JSON (ndjson), until the caller or the agent stops.

        A slow caller misses samples, and is dropped if it reads nothing for too long.
        """
        selection = _selection(query(request, SelectionQuery))
        uid, _ = peer(request)
        of_this_user = sum(other == uid for other in self._streams.values())
        if len(self._streams) >= MAX_STREAMS or of_this_user >= MOST_OF_A_USER:
            raise RouterUnavailable("too many streams of counters are open")
        response = web.StreamResponse(headers={"Cache-Control": "no-store"})
        response.content_type = "application/x-ndjson"
        try:
            await response.prepare(request)
        except ConnectionError:
            # The caller is already gone, such as a page that was left at once.
            return response
        task = asyncio.create_task(self._feed(response, selection))
        self._streams[task] = uid
        try:
            await task
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
        except (asyncio.CancelledError, ConnectionError):
            task.cancel()
        finally:
            self._streams.pop(task, None)
        return response

    async def follow_cleared(self, cleared: ClearedCounters) -> None:
        """Read the hits from time to time while an access list is cleared, so that no restart is missed."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if cleared.follows_lists:
                # A data plane that is down is read again later.
                with suppress(MillraceError):
                    await asyncio.get_running_loop().run_in_executor(self._pool, self._hits.now)

    async def stop(self, app: web.Application) -> None:  # noqa: ARG002 - a shutdown signal of aiohttp
        """End all streams."""
        for task in self._streams:
            task.cancel()

    async def _feed(self, response: web.StreamResponse, selection: Selection) -> None:
        number = 0
        while True:
            number, sample = await self._samples.following(number, selection)
            async with asyncio.timeout(self._slowest_write_s):
                await response.write(sample + b"\n")

    async def _answer(self, read: Callable[[], dict[str, Any]]) -> web.Response:
        def text() -> bytes:
            return json.dumps(read(), separators=(",", ":")).encode()

        body = await asyncio.get_running_loop().run_in_executor(self._pool, text)
        return web.Response(body=body, content_type="application/json")


def _selection(asked: SelectionQuery) -> Selection:
    return parse(asked.fields, asked.interfaces)


def _history(found: list[Kept], selection: Selection) -> dict[str, Any]:
    return {"samples": [selection.of(kept.sample()) for kept in found]}
