"""Limits on request bodies that apply before any of the body is kept.

A small body is let through, because reading it is cheaper than finding out who sends it. A larger one is read
only once its sender is known and permitted to send it; a body over the path's limit is not read at all.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

STRANGER_BYTES = 64 * 1024
"""How much of a body is read before the sender is known."""


@dataclass(frozen=True)
class Refusal:
    """Why a body is not read."""

    status: int
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)


class _Refused(Exception):
    """The rest of the body is not read."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.detail)


_TOO_LARGE = Refusal(413, "The request is too large.")


class BodyLimit:
    """Answers 413 for a body larger than `most_bytes(path)`, and the result of `check_sender(scope)` for a
    large one.

    `check_sender` is asked once, for a body of more than STRANGER_BYTES.
    """

    def __init__(
        self,
        application: Application,
        most_bytes: Callable[[str], int],
        check_sender: Callable[[Scope], Awaitable[Refusal | None]],
    ) -> None:
        self._application, self._most_bytes, self._check_sender = application, most_bytes, check_sender

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        most = self._most_bytes(scope["path"])
        declared = _declared(scope)
        if declared > most:
            await refuse(send, _TOO_LARGE)
            return
        asked = False
        if declared > STRANGER_BYTES:
            if (refusal := await self._check_sender(scope)) is not None:
                await refuse(send, refusal)
                return
            asked = True
        seen = 0
        started = False

        async def limited() -> dict[str, Any]:
            nonlocal asked, seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise _Refused(_TOO_LARGE)
            if seen > STRANGER_BYTES and not asked:
                if (refusal := await self._check_sender(scope)) is not None:
                    raise _Refused(refusal)
                asked = True
            return message

        async def noting(message: dict[str, Any]) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._application(scope, limited, noting)
        except _Refused as refused:
            if not started:
                await refuse(send, refused.refusal)


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() and len(value) < 20 else 0
    return 0


async def refuse(send: Send, refusal: Refusal) -> None:
    """Answer without the rest of the body; the connection, on which it may still come, is closed."""
    body = json.dumps(
        {
            "type": "about:blank",
            "title": HTTPStatus(refusal.status).phrase,
            "status": refusal.status,
            "detail": refusal.detail,
            "errors": [],
        }
    ).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *((name.lower().encode(), value.encode()) for name, value in refusal.headers.items()),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
