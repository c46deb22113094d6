"""Live state: read from the data plane and the routing daemons at the moment it is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Any

from aiohttp import web

from appliance.agent import route_table, tools
from appliance.agent.bodies import body, query
from appliance.agent.requests import PingBody, RoutesQuery, TracerouteBody
from appliance.agent.router import Router
from appliance.errors import NotFound


class StateApi:
    """Handlers that read the router and change nothing."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="state")

    def routes(self) -> list[web.RouteDef]:
        """The endpoints."""
        return [
            web.get("/v1/state/interfaces", self.interfaces),
            web.get("/v1/state/routes", self.route_table),
            web.get("/v1/state/bgp", self.bgp),
            web.get("/v1/state/bgp/neighbors/{address}", self.bgp_neighbor),
            web.get("/v1/state/ospf", self.ospf),
            web.get("/v1/state/acls", self.acls),
            web.get("/v1/state/control-plane", self.control_plane),
            web.get("/v1/state/neighbors", self.neighbors),
            web.get("/v1/state/hardware", self.hardware),
            web.get("/v1/state/health", self.health),
            web.post("/v1/tools/ping", self.ping),
            web.post("/v1/tools/traceroute", self.traceroute),
        ]

    def close(self) -> None:
        """Let go of threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def interfaces(self, _request: web.Request) -> web.Response:
        """State of each interface."""
        return await self._answer(lambda: {"interfaces": self._router.dataplane.interfaces_state()})

    async def route_table(self, request: web.Request) -> web.Response:
        """RIB, kernel and FIB side by side."""
        asked = query(request, RoutesQuery)
        router = self._router
        return await self._answer(lambda: route_table.routes(asked, router.dataplane, router.routing))

    async def bgp(self, _request: web.Request) -> web.Response:
        """The instance and its neighbors."""
        return await self._answer(self._router.routing.bgp_state)

    async def bgp_neighbor(self, request: web.Request) -> web.Response:
        """One neighbor."""
        text = request.match_info["address"]
        try:
            address = str(ip_address(text))
        except ValueError:
            raise NotFound("there is no BGP neighbor with this address") from None
        return await self._answer(lambda: self._router.routing.bgp_neighbor(address))

    async def ospf(self, _request: web.Request) -> web.Response:
        """Areas, interfaces and neighbors."""
        return await self._answer(self._router.routing.ospf_state)

    async def acls(self, _request: web.Request) -> web.Response:
        """Access lists with hits and bindings."""
        return await self._answer(lambda: {"acls": self._router.dataplane.acl_state()})

    async def control_plane(self, _request: web.Request) -> web.Response:
        """Packets for the router itself, accepted and dropped."""
        return await self._answer(self._router.dataplane.control_plane_state)

    async def neighbors(self, _request: web.Request) -> web.Response:
        """ARP and ND entries."""
        return await self._answer(lambda: {"neighbors": self._router.dataplane.neighbors()})

    async def hardware(self, _request: web.Request) -> web.Response:
        """NICs, threads and memory."""
        return await self._answer(self._router.dataplane.hardware)

    async def health(self, _request: web.Request) -> web.Response:
        """How the data plane and the routing daemons are, asked now."""
        router = self._router
        return await self._answer(
            lambda: {
                "parts": {router.dataplane.name: router.dataplane.health(), "frr": router.routing.health()}
            }
        )

    async def ping(self, request: web.Request) -> web.Response:
        """Ping from the router."""
        asked = await body(request, PingBody)
        return web.json_response(
            await tools.ping(self._router.netns, asked.destination, asked.count, asked.source, asked.size)
        )

    async def traceroute(self, request: web.Request) -> web.Response:
        """Traceroute from the router."""
        asked = await body(request, TracerouteBody)
        return web.json_response(await tools.traceroute(self._router.netns, asked.destination, asked.source))

    async def _answer(self, read: Callable[[], dict[str, Any]]) -> web.Response:
        return web.json_response(await asyncio.get_running_loop().run_in_executor(self._pool, read))
