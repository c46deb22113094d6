"""A limit on request bodies that holds before any of it is kept."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class _TooLarge(Exception):
    """The body went past the limit."""


class BodyLimit:
    """Answers 413 where a body is, or turns out to be, larger than `most_bytes`."""

    def __init__(self, application: Application, most_bytes: int) -> None:
        self._application, self._most_bytes = application, most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        if _declared(scope) > self._most_bytes:
            await _refuse(send)
            return
        seen = 0
        started = False

        async def limited() -> dict[str, Any]:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most_bytes:
                raise _TooLarge
            return message

        async def noting(message: dict[str, Any]) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._application(scope, limited, noting)
        except _TooLarge:
            if not started:
                await _refuse(send)


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() and len(value) < 20 else 0
    return 0


async def _refuse(send: Send) -> None:
    body = json.dumps(
        {
            "type": "about:blank",
            "title": "Content Too Large",
            "status": 413,
            "detail": "The request is too large.",
            "errors": [],
        }
    ).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
