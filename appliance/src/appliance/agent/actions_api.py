"""Actions on the running router without a commit: one endpoint for each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from aiohttp import web

from appliance.actions import ACTIONS, AnyAction
from appliance.agent.bodies import body
from appliance.agent.requests import ActionBody
from appliance.agent.router import Router

log = logging.getLogger(__name__)
Handler = Callable[[web.Request], Awaitable[web.Response]]


class ActionsApi:
    """Handlers of actions. Their threads are their own: a daemon that hangs delays nothing else."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="action")

    def routes(self) -> list[web.RouteDef]:
        """The endpoints."""
        return [web.post(f"/v1/actions/{action.name}", self._handler(action)) for action in ACTIONS]

    def close(self) -> None:
        """Release the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _handler(self, action: AnyAction) -> Handler:
        async def act(request: web.Request) -> web.Response:
            given = await body(request, ActionBody)
            question = action.asked(given.question)
            done = await asyncio.get_running_loop().run_in_executor(
                self._pool, lambda: action.act(self._router, question, given.author)
            )
            log.info("%s by %s: %s", action.name, given.author, "; ".join(done.done))
            return web.json_response(text=done.model_dump_json())

        return act
