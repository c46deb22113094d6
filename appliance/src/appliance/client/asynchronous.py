"""The agent's client for an event loop: the same calls as AgentClient."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, TypeVar

import httpx

from appliance.actions.action import Action, Done
from appliance.client import calls
from appliance.client.answers import Answer, CommitAnswer, ConfigAnswer, PlanAnswer, StatusAnswer
from appliance.client.failures import error_of, raise_failed
from appliance.client.waiting import POLL_S, Progress, first_wait_s, running
from appliance.errors import AgentUnavailable, Problem
from appliance.state.alarms import Alarms, Events, EventsQuery
from appliance.state.commits import CommitsUnderWay, CommitUnderWay
from appliance.state.counter_selection import EVERYTHING, Selection
from appliance.state.part import Answer as StateAnswer
from appliance.state.part import Part, Question

T = TypeVar("T")
A = TypeVar("A", bound=StateAnswer)
Q = TypeVar("Q", bound=Question)


class AsyncAgentClient:
    """As AgentClient; see there for what each call gives and raises."""

    def __init__(self, socket_path: str | Path, timeout_s: float = 60.0) -> None:
        self._socket_path, self._timeout_s = str(socket_path), timeout_s
        self._http = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=self._socket_path, retries=1),
            base_url="http://agent",
            timeout=timeout_s,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def status(self) -> StatusAnswer:
        """What runs, what awaits confirmation, drift and health."""
        return await self._ask(calls.status())

    async def config(self) -> ConfigAnswer:
        """The running document; secrets sealed."""
        return await self._ask(calls.config())

    async def seal(self, document: calls.Document) -> dict[str, Any]:
        """``document`` with its secrets sealed."""
        return await self._ask(calls.seal(document))

    async def validate(self, document: calls.Document) -> list[Problem]:
        """What would stop a commit."""
        return await self._ask(calls.validate(document))

    async def plan(self, document: calls.Document, caller_address: str | None = None) -> PlanAnswer:
        """What a commit from this address would do."""
        return await self._ask(calls.plan(document, caller_address))

    async def commit(
        self,
        document: calls.Document,
        *,
        author: str,
        comment: str = "",
        base_revision: int | None = None,
        confirm_s: float | None = None,
        request_id: str | None = None,
        caller_address: str | None = None,
        watch_s: float | None = None,
        wait_s: float | None = None,
        progress: Progress | None = None,
    ) -> CommitAnswer:
        """Make ``document`` the running one; raises when it fails."""
        return await self._change(
            calls.commit(
                document,
                base_revision,
                comment,
                author,
                confirm_s,
                request_id,
                caller_address,
                watch_s,
                first_wait_s(wait_s, progress),
            ),
            wait_s,
            progress,
        )

    async def rollback(
        self,
        revision: int,
        *,
        author: str,
        comment: str = "",
        confirm_s: float | None = None,
        request_id: str | None = None,
        caller_address: str | None = None,
        watch_s: float | None = None,
        wait_s: float | None = None,
        progress: Progress | None = None,
    ) -> CommitAnswer:
        """Commit the document of an earlier revision."""
        first_s = first_wait_s(wait_s, progress)
        return await self._change(
            calls.rollback(
                revision, comment, author, confirm_s, request_id, caller_address, watch_s, first_s
            ),
            wait_s,
            progress,
        )

    async def commit_result(self, request_id: str) -> CommitAnswer:
        """What became of a commit or rollback."""
        return await self._ask(calls.commit_result(request_id))

    async def commits(self) -> CommitsUnderWay:
        """The commit that runs, and those that wait for their turn."""
        return await self._ask(calls.commits())

    async def cancel_commit(self, request_id: str, *, author: str) -> CommitUnderWay:
        """Have a commit that waits or runs stopped and undone; as it stands then.

        Raises Conflict when it is over or is being recorded, NotFound when there is none.
        """
        return await self._ask(calls.cancel_commit(request_id, author))

    async def confirm(self, author: str) -> Answer:
        """Keep the revision that awaits confirmation."""
        return await self._ask(calls.confirm(author))

    async def keep(self, author: str) -> Answer:
        """Keep the revision, whatever its watch sees. Raises Conflict when none would go back by itself."""
        return await self._ask(calls.keep(author))

    async def watch_rules(self) -> dict[str, str]:
        """When the watch after a commit calls something worse, by what is compared."""
        return await self._ask(calls.watch_rules())

    async def revisions(self, limit: int = 50, before: int | None = None) -> list[Answer]:
        """Newest first."""
        return await self._ask(calls.revisions(limit, before))

    async def revision(self, number: int) -> Answer:
        """One revision in full."""
        return await self._ask(calls.revision(number))

    async def state(self, part: Part[Q, A], question: Q | None = None) -> A:
        """A part of the live state."""
        return await self._ask(calls.state(part, question))

    async def act(self, action: Action[Q], question: Q, *, author: str) -> Done:
        """Do something to the running router without a commit."""
        return await self._ask(calls.act(action, question, author))

    async def capture_part(self, capture: str, offset: int) -> bytes:
        """A part of a capture's file, a MiB at most; empty behind its end."""
        return await self._reply(calls.capture_part(capture, offset))

    async def alarms(self) -> Alarms:
        """Every alarm that stands."""
        return await self._ask(calls.alarms())

    async def events(self, query: EventsQuery | None = None) -> Events:
        """A part of the log of alarms, the newest first."""
        return await self._ask(calls.events(query or EventsQuery()))

    async def counters(self, selection: Selection = EVERYTHING) -> Answer:
        """The latest sample."""
        return await self._ask(calls.counters(selection))

    async def acl_totals(self) -> Answer:
        """``acls``: how many rules each access list has, and their ``packets`` and ``bytes`` together."""
        return await self._ask(calls.acl_totals())

    async def acl_hits(self, name: str) -> Answer:
        """``rules``: ``packets`` and ``bytes`` by sequence, as they are now. Raises NotFound."""
        return await self._ask(calls.acl_hits(name))

    async def counters_history(self, seconds: int = 300, selection: Selection = EVERYTHING) -> list[Answer]:
        """Samples of the last seconds, oldest first: ``time`` and ``interfaces``."""
        return await self._ask(calls.counters_history(seconds, selection))

    async def counters_stream(self) -> AsyncGenerator[Answer, None]:
        """Each new sample, until the agent goes away (AgentUnavailable) or the caller stops."""
        try:
            async with self._http.stream("GET", "/v1/counters/stream") as response:
                if response.is_error:
                    raise error_of(response.status_code, await response.aread())
                async for line in response.aiter_lines():
                    if line:
                        yield Answer(json.loads(line))
        except httpx.HTTPError as error:
            raise AgentUnavailable(f"the agent's counters ended: {error}") from error
        raise AgentUnavailable("the agent's counters ended")

    async def tool(self, name: str, **parameters: object) -> Answer:
        """``ping`` or ``traceroute``."""
        return await self._ask(calls.tool(name, **parameters))

    async def upgrade(self) -> Answer:
        """``available``, ``slots``, ``upload``, ``progress`` and the last ``attempt``."""
        return await self._ask(calls.upgrade())

    async def _change(
        self, call: calls.Call[CommitAnswer], wait_s: float | None, progress: Progress | None
    ) -> CommitAnswer:
        deadline = time.monotonic() + (self._timeout_s if wait_s is None else wait_s)
        request_id: Any = call.body["request_id"]
        try:
            answer = await self._ask(call)
        except AgentUnavailable as error:
            if not isinstance(error.__cause__, httpx.ReadTimeout):
                raise
            return running(request_id)
        while answer.state == "running" and (progress is not None or time.monotonic() < deadline):
            if progress is not None and (how_far := answer.progress) is not None:
                progress(how_far)
            await asyncio.sleep(POLL_S)
            answer = await self.commit_result(request_id)
        return raise_failed(answer)

    async def _ask(self, call: calls.Call[T]) -> T:
        return call.read(json.loads(await self._reply(call)))

    async def _reply(self, call: calls.Call[Any]) -> bytes:
        try:
            response = await self._http.request(
                call.method, call.path, params=call.query, json=call.body, content=call.content
            )
        except httpx.HTTPError as error:
            raise AgentUnavailable(
                f"the agent does not answer on {self._socket_path}: {str(error) or type(error).__name__}"
            ) from error
        if response.is_error:
            raise error_of(response.status_code, response.content)
        return response.content
