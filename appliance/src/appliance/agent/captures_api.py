"""Packet captures: begin, end, remove, and download in parts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from appliance.agent.bodies import body, query
from appliance.agent.router import Router
from appliance.errors import NotFound
from appliance.state.captures import MOST_PART_BYTES, Capture, CaptureState, CaptureWanted
from appliance.state.commit_options import Author

log = logging.getLogger(__name__)
T = TypeVar("T")


class CaptureBody(CaptureWanted):
    """``POST /v1/captures``."""

    author: Author


class PartQuery(BaseModel):
    """``GET /v1/captures/ID/file``: which part of the file, in bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    offset: int = Field(default=0, ge=0)
    size: int = Field(default=MOST_PART_BYTES, ge=1, le=MOST_PART_BYTES)


class CapturesApi:
    """Handlers of captures. Their threads are their own: a data plane that hangs delays nothing else."""

    def __init__(self, router: Router) -> None:
        self._captures = router.captures
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="captures")

    def routes(self) -> list[web.RouteDef]:
        """The endpoints; their list is a part of the live state."""
        return [
            web.post("/v1/captures", self.start),
            web.post("/v1/captures/{capture}/stop", self.stop),
            web.delete("/v1/captures/{capture}", self.remove),
            web.get("/v1/captures/{capture}/file", self.part),
        ]

    def close(self) -> None:
        """Release the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def start(self, request: web.Request) -> web.Response:
        """Begin a capture; answers with it."""
        given = await body(request, CaptureBody)
        wanted = CaptureWanted.model_validate(given.model_dump(exclude={"author"}))
        state = await self._call(lambda: self._captures.start(wanted, given.author))
        log.info("capture %s on %s begun by %s", state.id, state.interface, given.author)
        return _shown(state)

    async def stop(self, request: web.Request) -> web.Response:
        """End a capture; answers with it, its file complete."""
        capture = _capture(request)
        return _shown(await self._call(lambda: self._captures.stop(capture)))

    async def remove(self, request: web.Request) -> web.Response:
        """Remove an ended capture; answers with it."""
        capture = _capture(request)
        return _shown(await self._call(lambda: self._captures.remove(capture)))

    async def part(self, request: web.Request) -> web.Response:
        """A part of a file; empty past its end."""
        capture, asked = _capture(request), query(request, PartQuery)
        data = await self._call(lambda: self._captures.read(capture, asked.offset, asked.size))
        return web.Response(body=data, content_type="application/vnd.tcpdump.pcap")

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _capture(request: web.Request) -> str:
    try:
        return Capture(capture=request.match_info["capture"]).capture
    except ValidationError:
        raise NotFound("there is no such capture") from None


def _shown(state: CaptureState) -> web.Response:
    return web.json_response(text=state.model_dump_json())
