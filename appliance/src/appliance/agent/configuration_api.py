"""The document's endpoints: read, check, plan, commit, confirm, roll back, look back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any, TypeVar

from aiohttp import web

import appliance
from appliance.agent import edits
from appliance.agent.bodies import Bodies, body, query
from appliance.agent.edits import EditCommit, require_match
from appliance.agent.requests import (
    CheckBody,
    CommitBody,
    ConfigQuery,
    ConfirmBody,
    DocumentRequest,
    EditCommitBody,
    EditPlanBody,
    PlanBody,
    RevisionsQuery,
    RollbackBody,
)
from appliance.engine.engine import Engine
from appliance.engine.own_path import Caller
from appliance.engine.records import CommitRequest, CommitResult
from appliance.engine.turns import MOST_WAITING
from appliance.errors import Conflict, NotFound, StorageFull, ValidationFailed
from appliance.health.watch import HealthWatch
from appliance.state.commit_options import COMMIT_WAIT_S, CommitOptions

T = TypeVar("T")
_REFUSALS = 8
"""Threads besides those of running and waiting commits: to refuse more, and to answer what is known."""


class ConfigurationApi:
    """Handlers around the engine. Its calls run in threads; a caller who disconnects does not stop a commit.

    Requests that need a prompt answer share no thread with those that a user can make slow: commits wait for
    the router, previews and old revisions take longer the larger the documents are.
    """

    def __init__(self, engine: Engine, watch: HealthWatch) -> None:
        self._engine, self._watch = engine, watch
        self._bodies = Bodies()
        self._prompt = ThreadPoolExecutor(2, thread_name_prefix="prompt")
        self._commits = ThreadPoolExecutor(1 + MOST_WAITING + _REFUSALS, thread_name_prefix="commit")
        self._begun: set[str] = set()
        """Requests whose threads have not finished; they may not have begun."""
        self._documents = ThreadPoolExecutor(4, thread_name_prefix="document")

    def routes(self) -> list[web.RouteDef]:
        """The endpoints."""
        return [
            web.get("/v1/status", self.status),
            web.get("/v1/config", self.config),
            web.post("/v1/seal", self.seal),
            web.post("/v1/check", self.check),
            web.post("/v1/validate", self.validate),
            web.post("/v1/plan", self.plan),
            web.post("/v1/commit", self.commit),
            web.post("/v1/edits/plan", self.plan_edit),
            web.post("/v1/edits/commit", self.commit_edit),
            web.get("/v1/commits", self.commits),
            web.get("/v1/commits/{request_id}", self.commit_result),
            web.post("/v1/commits/{request_id}/cancel", self.cancel),
            web.post("/v1/confirm", self.confirm),
            web.post("/v1/keep", self.keep),
            web.get("/v1/watch/rules", self.watch_rules),
            web.post("/v1/rollback", self.rollback),
            web.get("/v1/revisions", self.revisions),
            web.get(r"/v1/revisions/{revision:\d{1,9}}", self.revision),
        ]

    def close(self) -> None:
        """Wait for the commit that runs; those that wait for their turn are refused."""
        self._engine.turns.dismiss()
        self._commits.shutdown(wait=True)
        for pool in (self._prompt, self._documents):
            pool.shutdown(wait=False, cancel_futures=True)
        self._bodies.close()

    async def status(self, _request: web.Request) -> web.Response:
        """The running revision, the one that awaits confirmation, drift and health."""
        engine = self._engine
        seen = engine.seen
        capabilities = await self._call(self._prompt, lambda: engine.capabilities)
        return web.json_response(
            {
                "version": appliance.__version__,
                "dataplane": capabilities.driver,
                "capabilities": capabilities.to_json(),
                "revision": engine.revision,
                "digest": engine.running_digest,
                "pending_confirm": engine.pending_confirm(),
                "commits": engine.turns.under_way().model_dump(mode="json"),
                "watch": await self._call(self._prompt, engine.watched.now),
                "drift": list(seen.drift),
                "waiting": list(seen.waiting),
                "health": engine.health(),
                "damage": engine.damage(),
                "storage": {**engine.storage(), "events": self._watch.usage},
                "alarms": self._watch.summary(),
            }
        )

    async def config(self, request: web.Request) -> web.Response:
        """The running document; secrets sealed."""
        asked = query(request, ConfigQuery)
        return await self._answer(lambda: vars(self._engine.running_document(asked.known)))

    async def check(self, request: web.Request) -> web.Response:
        """The problems that stop the commit of an edited document, its sealed form, and what runs."""
        asked = await self._bodies.document(request, CheckBody)

        def checked() -> dict[str, Any]:
            found = edits.check(self._engine, asked)
            problems = [asdict(entry) for entry in found.problems]
            return {**vars(found), "problems": problems, "running": vars(found.running)}

        return await self._answer(checked)

    async def seal(self, request: web.Request) -> web.Response:
        """The document with its secrets sealed."""
        asked = await self._bodies.document(request, DocumentRequest)
        return await self._answer(lambda: {"document": self._engine.seal(asked.document)})

    async def validate(self, request: web.Request) -> web.Response:
        """What would stop a commit."""
        asked = await self._bodies.document(request, DocumentRequest)
        return await self._answer(
            lambda: {"problems": [asdict(entry) for entry in self._engine.validate(asked.document)]}
        )

    async def plan(self, request: web.Request) -> web.Response:
        """What a commit would do."""
        asked = await self._bodies.document(request, PlanBody)
        require_match(self._engine, asked.match)
        caller = Caller.at(asked.caller_address)
        return await self._answer(lambda: self._engine.preview(asked.document, caller).to_json())

    async def plan_edit(self, request: web.Request) -> web.Response:
        """What the commit of an edit of the running document would do."""
        asked = await self._bodies.document(request, EditPlanBody)
        return await self._answer(lambda: edits.plan(self._engine, asked).model_dump(mode="json"))

    async def commit_edit(self, request: web.Request) -> web.Response:
        """Edit the running document. Answers with what it changes, whether or not the commit succeeds."""
        asked = await self._bodies.document(request, EditCommitBody)
        edit = await self._call(self._documents, lambda: EditCommit(self._engine, asked))
        work = self._begin(edit.request_id, edit.run)
        try:
            result = await asyncio.wait_for(asyncio.shield(work), _wait_s(asked))
        except TimeoutError:
            request_id = edit.answered()
            self._begun.add(request_id)
            work.add_done_callback(lambda _: self._begun.discard(request_id))
            return await self._answer(lambda: edit.to_json(self._known(request_id)))
        return await self._answer(lambda: edit.to_json(self._over(result)))

    async def commit(self, request: web.Request) -> web.Response:
        """Make a document the running one."""
        asked = await self._bodies.document(request, CommitBody)
        wanted = CommitRequest(asked.document, asked, asked.base_revision, match=asked.match)
        if asked.match is not None:
            # On a repeated request, the document it was for no longer runs if the commit was made.
            known = await self._call(self._documents, lambda: self._engine.result_of(wanted))
            if known is not None:
                return await self._change(asked, lambda: known)
            wanted = replace(wanted, base_revision=self._engine.revision)
            require_match(self._engine, asked.match)
        return await self._change(asked, lambda: self._engine.commit(wanted))

    async def rollback(self, request: web.Request) -> web.Response:
        """Commit the document of an earlier revision."""
        asked = await body(request, RollbackBody)
        return await self._change(asked, lambda: self._engine.rollback(asked.revision, asked))

    async def commits(self, _request: web.Request) -> web.Response:
        """The running commit, and those that wait."""
        return web.json_response(text=self._engine.turns.under_way().model_dump_json())

    async def commit_result(self, request: web.Request) -> web.Response:
        """The outcome of a commit, or its progress while it runs or waits."""
        return await self._answer(lambda: self._known(request.match_info["request_id"]))

    def _known(self, request_id: str) -> dict[str, Any]:
        progress = self._engine.turns.find(request_id)
        try:
            known = self._engine.job(request_id)
        except (NotFound, ValidationFailed):
            if request_id not in self._begun:
                raise NotFound("there is no commit with this request id") from None
            known = CommitResult(request_id, "running")
        shown = None if progress is None or known.state != "running" else progress.model_dump(mode="json")
        return {**self._over(known), "progress": shown}

    async def cancel(self, request: web.Request) -> web.Response:
        """Cancel a commit that waits or runs, and undo it."""
        request_id = request.match_info["request_id"]
        asked = await body(request, ConfirmBody)
        stopping = await self._call(self._prompt, lambda: self._engine.cancel(request_id, asked.author))
        return web.json_response(text=stopping.model_dump_json())

    async def confirm(self, request: web.Request) -> web.Response:
        """Keep the revision that awaits confirmation."""
        asked = await body(request, ConfirmBody)
        revision = await self._call(self._prompt, lambda: self._engine.confirm(asked.author))
        return web.json_response({"revision": revision})

    async def keep(self, request: web.Request) -> web.Response:
        """Keep the revision that is watched, whatever the watch sees."""
        asked = await body(request, ConfirmBody)
        revision = await self._call(self._prompt, lambda: self._engine.keep(asked.author))
        return web.json_response({"revision": revision})

    async def watch_rules(self, _request: web.Request) -> web.Response:
        """When the watch after a commit calls something worse."""
        return web.json_response({"rules": self._engine.watched.rules()})

    async def revisions(self, request: web.Request) -> web.Response:
        """Newest first."""
        asked = query(request, RevisionsQuery)
        return await self._answer(
            lambda: [entry.to_json() for entry in self._engine.revisions(asked.limit, asked.before)]
        )

    async def revision(self, request: web.Request) -> web.Response:
        """One revision with document, plan and diff."""
        number = int(request.match_info["revision"])
        return await self._answer(lambda: self._engine.revision_details(number))

    async def _change(self, asked: CommitOptions, change: Callable[[], CommitResult]) -> web.Response:
        """Run a commit to its end, however long that takes, and answer within its ``wait_s``."""
        work = self._begin(asked.request_id, change)
        try:
            result = await asyncio.wait_for(asyncio.shield(work), _wait_s(asked))
        except TimeoutError:
            return await self._answer(lambda: self._known(asked.request_id))
        if (error := result.error) is not None:
            match error.kind:
                case "validation":
                    raise ValidationFailed(error.problems)
                case "conflict":
                    raise Conflict(error.message)
                case "not_found":
                    raise NotFound(error.message)
                case "storage":
                    raise StorageFull(error.message)
        return await self._answer(lambda: self._over(result))

    def _begin(self, request_id: str, change: Callable[[], CommitResult]) -> asyncio.Future[CommitResult]:
        work = asyncio.get_running_loop().run_in_executor(self._commits, change)
        self._begun.add(request_id)
        work.add_done_callback(lambda _: self._begun.discard(request_id))
        return work

    def _over(self, result: CommitResult) -> dict[str, Any]:
        recorded = self._engine.recorded(result)
        return {
            **result.to_json(),
            "progress": None,
            "recorded": None if recorded is None else recorded.model_dump(mode="json"),
        }

    async def _answer(self, work: Callable[[], Any]) -> web.Response:
        """The result of ``work`` as JSON; both may be large, and are made in a thread."""
        text = await self._call(self._documents, lambda: json.dumps(work()))
        return web.json_response(text=text)

    async def _call(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, work)


def _wait_s(asked: CommitOptions) -> float:
    return COMMIT_WAIT_S if asked.wait_s is None else asked.wait_s
