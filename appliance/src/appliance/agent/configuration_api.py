"""The document's endpoints: read, check, plan, commit, confirm, roll back, look back."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TypeVar

from aiohttp import web

import appliance
from appliance.agent.bodies import body, query
from appliance.agent.requests import CommitBody, ConfirmBody, DocumentRequest, RevisionsQuery, RollbackBody
from appliance.engine.engine import Engine
from appliance.engine.records import CommitRequest, CommitResult
from appliance.errors import Conflict, NotFound, ValidationFailed

T = TypeVar("T")
COMMIT_WAIT_S = 45.0
"""How long a commit is waited for before the answer is ``running``."""


class ConfigurationApi:
    """Handlers around the engine. Its calls run in threads; a caller who leaves does not stop a commit."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pool = ThreadPoolExecutor(8, thread_name_prefix="engine")

    def routes(self) -> list[web.RouteDef]:
        """The endpoints."""
        return [
            web.get("/v1/status", self.status),
            web.get("/v1/config", self.config),
            web.post("/v1/seal", self.seal),
            web.post("/v1/validate", self.validate),
            web.post("/v1/plan", self.plan),
            web.post("/v1/commit", self.commit),
            web.get("/v1/commits/{request_id}", self.commit_result),
            web.post("/v1/confirm", self.confirm),
            web.post("/v1/rollback", self.rollback),
            web.get("/v1/revisions", self.revisions),
            web.get(r"/v1/revisions/{revision:\d{1,9}}", self.revision),
        ]

    def close(self) -> None:
        """Wait for commits under way."""
        self._pool.shutdown(wait=True)

    async def status(self, _request: web.Request) -> web.Response:
        """What runs, what awaits confirmation, drift and health."""
        engine = self._engine
        config = engine.config()
        capabilities = await self._call(lambda: engine.capabilities)
        return web.json_response(
            {
                "version": appliance.__version__,
                "dataplane": capabilities.driver,
                "capabilities": capabilities.to_json(),
                "revision": config["revision"],
                "digest": config["digest"],
                "pending_confirm": engine.pending_confirm(),
                "drift": list(engine.seen.drift),
                "health": engine.health(),
                "damage": engine.damage(),
                "storage": engine.storage(),
            }
        )

    async def config(self, _request: web.Request) -> web.Response:
        """The running document; secrets sealed."""
        return web.json_response(self._engine.config())

    async def seal(self, request: web.Request) -> web.Response:
        """The document with its secrets sealed."""
        asked = await body(request, DocumentRequest)
        return web.json_response({"document": await self._call(lambda: self._engine.seal(asked.document))})

    async def validate(self, request: web.Request) -> web.Response:
        """What would stop a commit."""
        asked = await body(request, DocumentRequest)
        problems = await self._call(lambda: self._engine.validate(asked.document))
        return web.json_response({"problems": [asdict(entry) for entry in problems]})

    async def plan(self, request: web.Request) -> web.Response:
        """What a commit would do."""
        asked = await body(request, DocumentRequest)
        preview = await self._call(lambda: self._engine.preview(asked.document))
        return web.json_response(preview.to_json())

    async def commit(self, request: web.Request) -> web.Response:
        """Make a document the running one."""
        asked = await body(request, CommitBody)
        request_id = asked.request_id or uuid.uuid4().hex
        wanted = CommitRequest(
            asked.document,
            asked.author,
            asked.comment,
            asked.base_revision,
            asked.confirm_s,
            request_id,
        )
        return await self._change(request_id, lambda: self._engine.commit(wanted))

    async def rollback(self, request: web.Request) -> web.Response:
        """Commit the document of an earlier revision."""
        asked = await body(request, RollbackBody)
        request_id = asked.request_id or uuid.uuid4().hex
        return await self._change(
            request_id,
            lambda: self._engine.rollback(
                asked.revision, asked.author, asked.comment, asked.confirm_s, request_id
            ),
        )

    async def commit_result(self, request: web.Request) -> web.Response:
        """What became of a commit."""
        request_id = request.match_info["request_id"]
        try:
            return web.json_response(self._engine.job(request_id).to_json())
        except ValidationFailed:
            raise NotFound("there is no commit with this request id") from None

    async def confirm(self, request: web.Request) -> web.Response:
        """Keep the revision that awaits confirmation."""
        asked = await body(request, ConfirmBody)
        revision = await self._call(lambda: self._engine.confirm(asked.author))
        return web.json_response({"revision": revision})

    async def revisions(self, request: web.Request) -> web.Response:
        """Newest first."""
        asked = query(request, RevisionsQuery)
        found = await self._call(lambda: self._engine.revisions(asked.limit, asked.before))
        return web.json_response([entry.to_json() for entry in found])

    async def revision(self, request: web.Request) -> web.Response:
        """One revision with document, plan and diff."""
        number = int(request.match_info["revision"])
        return web.json_response(await self._call(lambda: self._engine.revision_details(number)))

    async def _change(self, request_id: str, change: Callable[[], CommitResult]) -> web.Response:
        """Run a commit to its end, however long that takes, and answer within COMMIT_WAIT_S."""
        work = asyncio.get_running_loop().run_in_executor(self._pool, change)
        try:
            result = await asyncio.wait_for(asyncio.shield(work), COMMIT_WAIT_S)
        except TimeoutError:
            result = CommitResult(request_id, "running")
        if (error := result.error) is not None:
            match error.kind:
                case "validation":
                    raise ValidationFailed(error.problems)
                case "conflict":
                    raise Conflict(error.message)
                case "not_found":
                    raise NotFound(error.message)
        return web.json_response(result.to_json())

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
