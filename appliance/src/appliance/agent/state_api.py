"""Live state: read from the data plane and the routing daemons on request, once for all callers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web
from pydantic import ValidationError

from appliance.agent import tools
from appliance.agent.bodies import body
from appliance.agent.requests import PingBody, TracerouteBody
from appliance.agent.router import Router
from appliance.agent.shared_reads import SharedReads
from appliance.config.problem_text import message_of
from appliance.errors import NotFound, RouterUnavailable
from appliance.state import PARTS, AnyPart, Question

Handler = Callable[[web.Request], Awaitable[web.Response]]


class StateApi:
    """Handlers that read the router and change nothing: one for each part of the live state."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._lanes: dict[str, SharedReads] = {}

    def routes(self) -> list[web.RouteDef]:
        """The endpoints."""
        return [
            *(web.get(f"/v1/state/{part.where}", self._handler(part)) for part in PARTS),
            web.post("/v1/tools/ping", self.ping),
            web.post("/v1/tools/traceroute", self.traceroute),
        ]

    def close(self) -> None:
        """Release the threads."""
        for lane in self._lanes.values():
            lane.close()

    async def ping(self, request: web.Request) -> web.Response:
        """Ping from the router."""
        asked = await body(request, PingBody)
        self._router.vrf_table(asked.vrf)
        return web.json_response(
            await tools.ping(
                self._router.netns, asked.destination, asked.count, asked.source, asked.size, asked.vrf
            )
        )

    async def traceroute(self, request: web.Request) -> web.Response:
        """Traceroute from the router."""
        asked = await body(request, TracerouteBody)
        self._router.vrf_table(asked.vrf)
        return web.json_response(
            await tools.traceroute(self._router.netns, asked.destination, asked.source, asked.vrf)
        )

    def _handler(self, part: AnyPart) -> Handler:
        async def answer(request: web.Request) -> web.Response:
            question = _question(part, request)
            name = part.lane_of(question)
            if (lane := self._lanes.get(name)) is None:
                lane = self._lanes[name] = SharedReads(name)
            read = await lane.read((part.name, question), lambda: self._read(part, question))
            return web.Response(body=read, content_type="application/json")

        return answer

    def _read(self, part: AnyPart, question: Question) -> bytes:
        """The reading as JSON, made in the thread of its lane."""
        try:
            answer = part.read(self._router, question)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(token) for token in first["loc"])
            raise RouterUnavailable(
                f"{part.name}: what was read is not as it should be: {place}: {first['msg']}"
            ) from error
        return bytes(answer.model_dump_json().encode())


def _question(part: AnyPart, request: web.Request) -> Question:
    """Raises pydantic's ValidationError, or NotFound for what a path cannot name."""
    try:
        question: Question = part.asked({**request.query, **request.match_info})
    except ValidationError as error:
        wrong = next((entry for entry in error.errors() if entry["loc"][:1] in _places(part)), None)
        if wrong is None:
            raise
        raise NotFound(f"{part.name}: {wrong['loc'][0]} {message_of(wrong)}") from None
    return question


def _places(part: AnyPart) -> set[tuple[str]]:
    return {(field,) for field in part.in_path}
