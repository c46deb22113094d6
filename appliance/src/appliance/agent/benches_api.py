"""Benches: begun and cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from aiohttp import web
from pydantic import ValidationError

from appliance.agent.bodies import body
from appliance.agent.router import Router
from appliance.engine.backend import BackendUnavailable
from appliance.errors import MillraceError, NotFound
from appliance.state.benches import Bench, BenchState, BenchWanted
from appliance.state.commit_options import Author

log = logging.getLogger(__name__)
T = TypeVar("T")
_TIDY_EVERY_S = 5.0


class BenchBody(BenchWanted):
    """``POST /v1/benches``."""

    author: Author


class BenchesApi:
    """Handlers of benches. Their threads are their own: a data plane that hangs delays nothing else."""

    def __init__(self, router: Router) -> None:
        self._benches = router.benches
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="benches")

    def routes(self) -> list[web.RouteDef]:
        """The endpoints; their list is a part of the live state."""
        return [
            web.post("/v1/benches", self.start),
            web.post("/v1/benches/{bench}/cancel", self.cancel),
        ]

    def close(self) -> None:
        """Release the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def tidy(self) -> None:
        """As soon as the data plane answers, remove what a bench of a killed agent left, and what a bench of
        this agent could not remove."""
        while True:
            if self._benches.may_have_left:
                with suppress(MillraceError, BackendUnavailable, OSError):
                    await self._call(self._benches.tidy)
            await asyncio.sleep(_TIDY_EVERY_S)

    async def start(self, request: web.Request) -> web.Response:
        """Begin a bench; answers with it."""
        given = await body(request, BenchBody)
        wanted = BenchWanted.model_validate(given.model_dump(exclude={"author"}))
        state = await self._call(lambda: self._benches.start(wanted, given.author))
        log.info("bench %s of %s begun by %s", state.id, state.scenario, given.author)
        return _shown(state)

    async def cancel(self, request: web.Request) -> web.Response:
        """End a bench; answers with it once the router is as before."""
        try:
            bench = Bench(bench=request.match_info["bench"]).bench
        except ValidationError:
            raise NotFound("there is no such bench") from None
        return _shown(await self._call(lambda: self._benches.cancel(bench)))

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _shown(state: BenchState) -> web.Response:
    return web.json_response(text=state.model_dump_json())
