"""Django behind lanes: one thread runs a request from the first middleware to the last, or the request is
refused.

Django's own ASGI handler starts a thread for each request and switches to it several times; each such thread
opens its own connection to the database. Here the threads are few and permanent, and so are their
connections.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar, cast

from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.urls import set_script_prefix

from webui.accounts.sign_in_gate import SignInRefused, gate
from webui.database_outage import is_outage, outage_log
from webui.http import busy, sign_in_door
from webui.http.body_allowance import check_sender
from webui.http.body_limit import Receive, Refusal, Scope, Send
from webui.http.callers import callers
from webui.http.fair_lane import FairLane
from webui.http.lane_choice import SENDERS, SIGN_IN, SIZES, lane_of
from webui.http.lanes import Lane, LaneFull, LaneSize
from webui.http.live_response import LiveResponse
from webui.http.sign_in_door import Admission, SignInDoor
from webui.postgresql.patience import REQUEST_S, patience

T = TypeVar("T")
_log = logging.getLogger(__name__)

SLOWEST_SEND_S = 20.0
"""The reader of a stream who takes nothing for this long is dropped."""
RECHECK_S = 10.0
"""How often the permission of a stream's reader is checked again."""


class LaneHandler(ASGIHandler):
    """Serves HTTP. A streamed answer holds no thread and no connection once its view has returned."""

    def __init__(
        self,
        sizes: Mapping[str, LaneSize] = SIZES,
        slowest_send_s: float = SLOWEST_SEND_S,
        recheck_s: float = RECHECK_S,
    ) -> None:
        super().__init__()
        self._sizes, self._slowest_send_s, self._recheck_s = sizes, slowest_send_s, recheck_s
        self._lanes: dict[str, Lane] = {}
        self._door = SignInDoor(gate)
        self._background: set[asyncio.Task[None]] = set()

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002 - Django's signature
        """The synchronous chain, whatever Django's own handler requests: it runs in a lane's thread."""
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # type: ignore[override]
        """One request."""
        if scope["type"] != "http":
            raise ValueError(f"only HTTP is served here, not {scope['type']}")
        name, rank = lane_of(scope["method"], scope["path"]), 0.0
        caller = callers.of(scope)
        client, stranger = caller.client, not caller.known
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        admission: Admission | None = None
        if name == SIGN_IN:
            try:
                admission = self._admit(scope, body)
            except SignInRefused as refused:
                body.close()
                await sign_in_door.refuse(send, refused)
                return
            name, client, rank = admission.lane, admission.client, admission.rank
            stranger = not admission.attempt.known
        try:
            work = partial(self._respond, scope, body)
            response = await self.lane(name).run(client, work, rank, stranger)
        except LaneFull:
            body.close()
            if admission is not None:
                self._door.turn_away(admission)
            await busy.refuse(scope, send)
            return
        if response.streaming:
            await self._stream(cast(StreamingHttpResponse, response), receive, send)
        else:
            await self.send_response(response, cast(Callable[[Mapping[str, Any]], Awaitable[None]], send))

    def _admit(self, scope: Scope, body: Any) -> Admission:
        """The lane and rank of a sign-in, by its source. Raises SignInRefused."""
        if self._door.is_reading_due:
            reading = asyncio.create_task(self._read_the_known())
            self._background.add(reading)
            reading.add_done_callback(self._background.discard)
        admission = self._door.admit(scope, body.read())
        body.seek(0)
        return admission

    async def _read_the_known(self) -> None:
        """Does not wait for the result: a source that is not yet known counts as a stranger, who may also
        try.
        """
        try:
            await self.lane("check").run("", partial(_with_connection, self._door.read))
        except LaneFull:
            pass
        except Exception as error:
            if not is_outage(error):
                raise
            outage_log.tell("reading from where users signed in", error)

    async def sender_refusal(self, scope: Scope) -> Refusal | None:
        """Why the body of this request is not read further, or None: asked in a lane of its own."""
        caller, ask = callers.of(scope), partial(check_sender, scope)
        try:
            return await self.lane(SENDERS).run(caller.client, ask, stranger=not caller.known)
        except LaneFull:
            return busy.REFUSAL

    def lane(self, name: str) -> Lane:
        """The lane with this name, created in the event loop that serves."""
        if name not in self._lanes:
            size = self._sizes[name]
            self._lanes[name] = Lane(name, size) if size.pace is None else FairLane(name, size)
        return self._lanes[name]

    def _respond(self, scope: Scope, body: Any) -> HttpResponseBase:
        """All of Django's work on one request, in this thread."""
        with patience(REQUEST_S):
            return self._within_patience(scope, body)

    def _within_patience(self, scope: Scope, body: Any) -> HttpResponseBase:
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        response: HttpResponseBase | None = None
        try:
            request, response = self.create_request(scope, body)
            if request is not None:
                response = self.get_response(request)
                _remember_session(request)
                response._handler_class = self.__class__  # type: ignore[attr-defined]  # as Django's handlers do
            assert response is not None
            return response
        finally:
            body.close()
            if response is None or response.streaming:
                signals.request_finished.send(sender=self.__class__)
            else:
                response.close()  # which says that the request is finished

    async def _stream(self, response: StreamingHttpResponse, receive: Receive, send: Send) -> None:
        """Send a stream until it ends, or until its reader leaves, takes nothing for long, or may no
        longer read.
        """

        async def patient(message: Mapping[str, Any]) -> None:
            async with asyncio.timeout(self._slowest_send_s):
                await send(dict(message))

        sending = asyncio.create_task(self.send_response(response, patient))
        tasks = [sending, asyncio.create_task(self.listen_for_disconnect(receive))]
        if isinstance(response, LiveResponse):
            tasks.append(asyncio.create_task(self._until_refused(response.still_allowed)))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            response.close()
        for outcome in outcomes:
            if not isinstance(outcome, Exception) or isinstance(outcome, (RequestAborted, TimeoutError)):
                continue
            if is_outage(outcome):
                outage_log.tell("a stream ended, as nobody can tell whether it may go on", outcome)
            else:
                _log.error("a stream ended", exc_info=outcome)

    async def _until_refused(self, still_allowed: Callable[[], bool]) -> None:
        """Return once the reader may no longer read; raise the error that prevents this from being known."""
        while True:
            await asyncio.sleep(self._recheck_s)
            with suppress(LaneFull):
                if not await self.lane("check").run("", partial(_with_connection, still_allowed)):
                    return


def _remember_session(request: HttpRequest) -> None:
    """The session of this request, if somebody asked for its user: a query of its own would cost too much."""
    user, session = vars(request).get("_cached_user"), vars(request).get("session")
    key = getattr(session, "session_key", None)
    if user is None or not key:
        return
    if user.is_authenticated:
        callers.remember(key, user.pk)
    else:
        callers.forget(key)


def _with_connection(ask: Callable[[], T]) -> T:
    """Outside a request, nothing else checks whether the thread's database connection still works."""
    with patience(REQUEST_S):
        close_old_connections()
        return ask()
