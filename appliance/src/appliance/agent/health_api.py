"""Current alarms, and the log of past ones."""

from __future__ import annotations

import asyncio

from aiohttp import web

from appliance.agent.bodies import query
from appliance.health.watch import HealthWatch
from appliance.state.alarms import EventsQuery


class HealthApi:
    """Handlers that return what the watch found: they read nothing themselves."""

    def __init__(self, watch: HealthWatch) -> None:
        self._watch = watch

    def routes(self) -> list[web.RouteDef]:
        """The endpoints."""
        return [web.get("/v1/alarms", self.alarms), web.get("/v1/events", self.events)]

    async def alarms(self, _request: web.Request) -> web.Response:
        """Every current alarm."""
        text = await asyncio.to_thread(lambda: self._watch.alarms().model_dump_json())
        return web.json_response(text=text)

    async def events(self, request: web.Request) -> web.Response:
        """A part of the log, the newest first."""
        asked = query(request, EventsQuery)
        text = await asyncio.to_thread(lambda: self._watch.events(asked).model_dump_json())
        return web.json_response(text=text)
