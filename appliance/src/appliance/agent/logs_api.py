"""Logs of the router's parts, in pages."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from aiohttp import web

from appliance.agent.bodies import query
from appliance.agent.router import Router
from appliance.state.logs import LogQuery


class LogsApi:
    """The handler of logs. Its thread is its own: a slow disk delays nothing else."""

    def __init__(self, router: Router) -> None:
        self._logs = router.logs
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="logs")

    def routes(self) -> list[web.RouteDef]:
        """The endpoint."""
        return [web.get("/v1/logs", self.page)]

    def close(self) -> None:
        """Let go of the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def page(self, request: web.Request) -> web.Response:
        """Lines that match, with cursors."""
        asked = query(request, LogQuery)
        text = await asyncio.get_running_loop().run_in_executor(
            self._pool, lambda: self._logs.page(asked).model_dump_json()
        )
        return web.json_response(text=text)
