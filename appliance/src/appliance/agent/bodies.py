"""Reading requests: JSON bodies and queries into their models, without delaying others.

A small body is read where it arrives. A large one is a document: it waits for its turn before any of it is
stored, and is parsed in a thread, so that status and confirm still answer.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from aiohttp import web
from pydantic import BaseModel

from appliance.config.load import MAX_BYTES, parse_json
from appliance.errors import Problem, RouterUnavailable, ValidationFailed

M = TypeVar("M", bound=BaseModel)
MAX_BODY_BYTES = 64 * 1024
"""The limit for a request without a document."""
MAX_DOCUMENT_BYTES = MAX_BYTES
ASKED = web.RequestKey("asked", BaseModel)
"""Where a request keeps its small body once read."""
_AT_ONCE = 2
"""Large bodies held at once: memory is bounded by this many times the limit."""
_TURN_S = 30.0
_READ_S = 60.0
"""How long a large body may take to arrive."""


class Bodies:
    """Reads the bodies of one application."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="bodies")
        self._turns = asyncio.Semaphore(_AT_ONCE)

    def close(self) -> None:
        """Release the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def document(self, request: web.Request, model: type[M]) -> M:
        """A body that may hold a document, as ``model``.

        Raises ValidationFailed or pydantic's ValidationError, HTTPRequestEntityTooLarge past
        MAX_DOCUMENT_BYTES, and RouterUnavailable when too many wait.
        """
        length = request.content_length
        if length is not None and length <= MAX_BODY_BYTES:
            return await body(request, model)
        if length is not None and length > MAX_DOCUMENT_BYTES:
            raise web.HTTPRequestEntityTooLarge(MAX_DOCUMENT_BYTES, length)
        try:
            async with asyncio.timeout(_TURN_S):
                await self._turns.acquire()
        except TimeoutError:
            raise RouterUnavailable("too many large documents are being read: try again later") from None
        try:
            async with asyncio.timeout(_READ_S):
                data = await request.read()
            return await asyncio.get_running_loop().run_in_executor(self._pool, _parsed, data, model)
        except TimeoutError:
            raise web.HTTPRequestTimeout(text="the body did not arrive in time") from None
        finally:
            self._turns.release()


async def body(request: web.Request, model: type[M]) -> M:
    """A small body as ``model``.

    Raises ValidationFailed, pydantic's ValidationError, or HTTPRequestEntityTooLarge past MAX_BODY_BYTES.
    """
    data = bytearray()
    while chunk := await request.content.readany():
        data += chunk
        if len(data) > MAX_BODY_BYTES:
            raise web.HTTPRequestEntityTooLarge(MAX_BODY_BYTES, len(data))
    parsed = _parsed(bytes(data), model)
    asked: BaseModel = parsed
    request[ASKED] = asked
    return parsed


def query(request: web.Request, model: type[M]) -> M:
    """The query string as ``model``. Raises pydantic's ValidationError."""
    return model.model_validate(dict(request.query))


def _parsed(data: bytes, model: type[M]) -> M:
    read = parse_json(data or b"{}")
    if not isinstance(read, dict):
        raise ValidationFailed([Problem("", "a request body is a JSON object")])
    return model.model_validate(read)
