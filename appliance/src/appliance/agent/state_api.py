"""Live state: read from the data plane and the routing daemons when it is asked for, once for all who ask."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from ipaddress import IPv6Address, ip_address
from typing import Any

from aiohttp import web

from appliance.agent import route_table, tools
from appliance.agent.bodies import body, query
from appliance.agent.requests import PingBody, RoutesQuery, TracerouteBody
from appliance.agent.route_lists import RouteLists
from appliance.agent.router import Router
from appliance.agent.shared_reads import SharedReads
from appliance.errors import NotFound

_PARTS = (
    "interfaces", "routes", "route lists", "bgp", "ospf", "acls", "control plane", "neighbors", "hardware",
    "health",
)  # fmt: skip


class StateApi:
    """Handlers that read the router and change nothing."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._lists = RouteLists(router.routing)
        self._parts = {name: SharedReads(name) for name in _PARTS}

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
        for part in self._parts.values():
            part.close()

    async def interfaces(self, _request: web.Request) -> web.Response:
        """State of each interface."""
        return await self._answer(
            "interfaces", lambda: {"interfaces": self._router.dataplane.interfaces_state()}
        )

    async def route_table(self, request: web.Request) -> web.Response:
        """RIB, kernel and FIB side by side."""
        asked = query(request, RoutesQuery)
        router, lists = self._router, self._lists
        if route_table.is_list(asked):
            return await self._answer(
                "route lists",
                lambda: route_table.routes(asked, router.dataplane, lists),
                asked,
            )
        return await self._answer(
            "routes", lambda: route_table.route(asked, router.dataplane, router.routing), asked
        )

    async def bgp(self, _request: web.Request) -> web.Response:
        """The instance and its neighbors."""
        return await self._answer("bgp", self._router.routing.bgp_state)

    async def bgp_neighbor(self, request: web.Request) -> web.Response:
        """One neighbor."""
        text = request.match_info["address"]
        try:
            known = ip_address(text)
        except ValueError:
            raise NotFound("there is no BGP neighbor with this address") from None
        if isinstance(known, IPv6Address) and known.scope_id is not None:
            raise NotFound("a BGP neighbor is named by its address without a zone")
        address = str(known)
        return await self._answer("bgp", lambda: self._router.routing.bgp_neighbor(address), address)

    async def ospf(self, _request: web.Request) -> web.Response:
        """Areas, interfaces and neighbors."""
        return await self._answer("ospf", self._router.routing.ospf_state)

    async def acls(self, _request: web.Request) -> web.Response:
        """Access lists with hits and bindings."""
        return await self._answer("acls", lambda: {"acls": self._router.dataplane.acl_state()})

    async def control_plane(self, _request: web.Request) -> web.Response:
        """Packets for the router itself, accepted and dropped."""
        return await self._answer("control plane", self._router.dataplane.control_plane_state)

    async def neighbors(self, _request: web.Request) -> web.Response:
        """ARP and ND entries."""
        return await self._answer("neighbors", lambda: {"neighbors": self._router.dataplane.neighbors()})

    async def hardware(self, _request: web.Request) -> web.Response:
        """NICs, threads and memory."""
        return await self._answer("hardware", self._router.dataplane.hardware)

    async def health(self, _request: web.Request) -> web.Response:
        """How the data plane and the routing daemons are, asked now."""
        router = self._router
        return await self._answer(
            "health",
            lambda: {
                "parts": {
                    router.dataplane.name: router.dataplane.health(),
                    "frr": router.routing.health(),
                    "revisions": router.engine.health()["revisions"],
                }
            },
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

    async def _answer(
        self, part: str, read: Callable[[], dict[str, Any]], what: Hashable = None
    ) -> web.Response:
        """What is read, and put into JSON, once for all who ask alike at the same time."""
        body = await self._parts[part].read(what, lambda: json.dumps(read(), separators=(",", ":")).encode())
        return web.Response(body=body, content_type="application/json")
