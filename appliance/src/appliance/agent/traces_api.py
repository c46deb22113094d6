"""Packet traces: begin, end, remove, and read their packets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from appliance.agent.bodies import body
from appliance.agent.router import Router
from appliance.engine.backend import BackendUnavailable
from appliance.errors import MillraceError, NotFound
from appliance.state.commit_options import Author
from appliance.state.traces import Trace, TraceWanted

log = logging.getLogger(__name__)
T = TypeVar("T")
_TIDY_EVERY_S = 5.0


class TraceBody(TraceWanted):
    """``POST /v1/traces``."""

    author: Author


class TracesApi:
    """Handlers of packet traces. Their threads are their own: a VPP that hangs delays nothing else."""

    def __init__(self, router: Router) -> None:
        self._traces = router.traces
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="traces")

    def routes(self) -> list[web.RouteDef]:
        """The endpoints; their list is a part of the live state."""
        return [
            web.post("/v1/traces", self.start),
            web.get("/v1/traces/{trace}", self.result),
            web.post("/v1/traces/{trace}/stop", self.stop),
            web.delete("/v1/traces/{trace}", self.remove),
        ]

    def close(self) -> None:
        """Release the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def tidy(self) -> None:
        """As soon as the data plane answers, remove what a killed agent left."""
        while self._traces.has_left:
            with suppress(MillraceError, BackendUnavailable, OSError):
                await self._call(self._traces.tidy)
            await asyncio.sleep(_TIDY_EVERY_S)

    async def start(self, request: web.Request) -> web.Response:
        """Begin a trace; answers with it."""
        given = await body(request, TraceBody)
        wanted = TraceWanted.model_validate(given.model_dump(exclude={"author"}))
        state = await self._call(lambda: self._traces.start(wanted, given.author))
        log.info("packet trace %s on %s begun by %s", state.id, state.interface, given.author)
        return _shown(state)

    async def result(self, request: web.Request) -> web.Response:
        """A trace with its packets."""
        trace = _trace(request)
        return _shown(await self._call(lambda: self._traces.result(trace)))

    async def stop(self, request: web.Request) -> web.Response:
        """End a trace; answers with it, its packets known."""
        trace = _trace(request)
        return _shown(await self._call(lambda: self._traces.stop(trace)))

    async def remove(self, request: web.Request) -> web.Response:
        """Forget an ended trace; answers with it."""
        trace = _trace(request)
        return _shown(await self._call(lambda: self._traces.remove(trace)))

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _trace(request: web.Request) -> str:
    try:
        return Trace(trace=request.match_info["trace"]).trace
    except ValidationError:
        raise NotFound("there is no such packet trace") from None


def _shown(answer: BaseModel) -> web.Response:
    return web.json_response(text=answer.model_dump_json())
