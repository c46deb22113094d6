"""How many bodies may come in at once, and for how long: before any lane, and before their senders are known.

A body that trickles holds a connection and memory, and costs its sender nothing. Strangers share few places
and little time; if all are taken, the oldest body of the source that holds most gives way, so that a sign-in
from elsewhere, whose form comes at once, still gets in. Users have places of their own.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from webui.http import busy
from webui.http.body_limit import Application, Receive, Refusal, Scope, Send, refuse
from webui.http.callers import Caller

_LATE = Refusal(408, "The body of the request did not arrive in time.")


@dataclass(frozen=True)
class IntakeSize:
    """Bounds of the bodies under way of one kind of sender."""

    places: int
    of_one: int
    """The places that one client may hold."""
    part_s: float
    """The longest wait for the next part of a body."""
    whole_s: float
    """The longest time from the head of a request to the end of its body."""


STRANGERS = IntakeSize(places=64, of_one=8, part_s=10.0, whole_s=10.0)
"""64 KiB of each are read at most."""
USERS = IntakeSize(places=64, of_one=16, part_s=60.0, whole_s=900.0)
"""An upgrade file's part of 17 MiB at 160 kbit/s."""


class _Stopped(Exception):
    """The rest of the body is not read."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.detail)


class _Place:
    """One body under way."""

    def __init__(self, client: str, size: IntakeSize) -> None:
        self.client, self._part_s = client, size.part_s
        self._end_s = asyncio.get_running_loop().time() + size.whole_s
        self._timer: asyncio.Timeout | None = None
        self.arrived = self.displaced = False

    async def next(self, receive: Receive) -> dict[str, Any]:
        """The next part. Raises _Stopped."""
        now_s = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(min(self._end_s, now_s + self._part_s)) as self._timer:
                if self.displaced:
                    raise _Stopped(busy.REFUSAL)
                return await receive()
        except TimeoutError:
            raise _Stopped(busy.REFUSAL if self.displaced else _LATE) from None
        finally:
            self._timer = None

    def displace(self) -> None:
        """Stop waiting for it, now or before its next part."""
        self.displaced = True
        if self._timer is not None:
            self._timer.reschedule(asyncio.get_running_loop().time())


class Intake:
    """Passes on requests whose bodies have a place. Used from one event loop."""

    def __init__(
        self,
        application: Application,
        caller_of: Callable[[Scope], Caller],
        strangers: IntakeSize = STRANGERS,
        users: IntakeSize = USERS,
    ) -> None:
        self._application, self._caller_of = application, caller_of
        self._sizes = {False: strangers, True: users}
        self._places: dict[bool, list[_Place]] = {False: [], True: []}

    def under_way(self, known: bool) -> int:
        """How many bodies of users, or of strangers, come in now."""
        return len(self._places[known])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or not _has_body(scope):
            await self._application(scope, receive, send)
            return
        caller = self._caller_of(scope)
        places = self._places[caller.known]
        place = self._enter(caller)
        if place is None:
            await refuse(send, busy.REFUSAL)
            return
        started = False

        async def timed() -> dict[str, Any]:
            if place.arrived:
                return await receive()
            message = await place.next(receive)
            if not message.get("more_body"):
                place.arrived = True
                places.remove(place)
            return message

        async def noting(message: dict[str, Any]) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._application(scope, timed, noting)
        except _Stopped as stopped:
            if not started:
                await refuse(send, stopped.refusal)
        finally:
            if place in places:
                places.remove(place)

    def _enter(self, caller: Caller) -> _Place | None:
        size, places = self._sizes[caller.known], self._places[caller.known]
        held = Counter(one.client for one in places)
        if held[caller.client] >= size.of_one:
            return None
        if len(places) >= size.places:
            if caller.known:
                return None
            most = max(held.values())
            oldest = next(one for one in places if held[one.client] == most)
            places.remove(oldest)
            oldest.displace()
        place = _Place(caller.client, size)
        places.append(place)
        return place


def _has_body(scope: Scope) -> bool:
    for name, value in scope["headers"]:
        if name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0 ")):
            return True
    return False
