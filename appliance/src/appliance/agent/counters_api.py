"""Counters: the latest sample, the last five minutes, and a stream."""

from __future__ import annotations

import asyncio
import time

from aiohttp import web

from appliance.agent.bodies import query
from appliance.agent.requests import HistoryQuery
from appliance.agent.samples import Samples
from appliance.errors import RouterUnavailable


class CountersApi:
    """Handlers around the ring of samples."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        self._streams: set[asyncio.Task[None]] = set()

    def routes(self) -> list[web.RouteDef]:
        """The endpoints."""
        return [
            web.get("/v1/counters", self.latest),
            web.get("/v1/counters/history", self.history),
            web.get("/v1/counters/stream", self.stream),
        ]

    async def latest(self, _request: web.Request) -> web.Response:
        """The newest sample."""
        sample = self._samples.latest
        if sample is None:
            raise RouterUnavailable(self._samples.failure or "there is no sample yet")
        return web.Response(body=sample, content_type="application/json")

    async def history(self, request: web.Request) -> web.Response:
        """``samples`` of the last seconds, oldest first."""
        asked = query(request, HistoryQuery)
        found = self._samples.since(time.time() - asked.seconds)
        return web.Response(body=b'{"samples":[' + b",".join(found) + b"]}", content_type="application/json")

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Each new sample as a line of JSON (ndjson), until the caller or the agent stops."""
        response = web.StreamResponse(headers={"Cache-Control": "no-store"})
        response.content_type = "application/x-ndjson"
        await response.prepare(request)
        task = asyncio.create_task(self._feed(response))
        self._streams.add(task)
        try:
            await task
        except (asyncio.CancelledError, ConnectionError):
            task.cancel()
        finally:
            self._streams.discard(task)
        return response

    async def stop(self, app: web.Application) -> None:  # noqa: ARG002 - a shutdown signal of aiohttp
        """End all streams."""
        for task in self._streams:
            task.cancel()

    async def _feed(self, response: web.StreamResponse) -> None:
        after_s = 0.0
        while True:
            after_s, sample = await self._samples.following(after_s)
            await response.write(sample + b"\n")
