"""Operations done over the command line, which the web half fetches from here for its audit log.

The web half records the operations that pass through it. A client that uses the socket without it says so in
two headers, and one middleware records the request and its outcome.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from aiohttp import web
from aiohttp.typedefs import Middleware
from pydantic import BaseModel, TypeAdapter, ValidationError

from appliance.agent.bodies import ASKED, query
from appliance.agent.problems import Handler
from appliance.engine import durable
from appliance.state.commit_options import Author
from appliance.state.operations import AUTHOR_HEADER, VIA_HEADER, Operation, Operations, OperationsQuery

log = logging.getLogger(__name__)
KEPT = 500
"""How many operations are kept; the oldest are removed first."""
_MOST_TARGET = 200
_LIMITS = ("author", "packets", "seconds", "size_bytes", "snap_bytes")
"""Fields that do not name the target."""
_PLAIN = ("interface", "filter", "direction", "scenario")
"""Fields whose values need no word before them."""
_ACTIONS = (
    ("POST", re.compile(r"^/v1/(capture|trace)s$"), "start"),
    ("POST", re.compile(r"^/v1/(capture|trace)s/([0-9a-f]+)/stop$"), "stop"),
    ("DELETE", re.compile(r"^/v1/(capture|trace)s/([0-9a-f]+)$"), "remove"),
    ("POST", re.compile(r"^/v1/(bench)es$"), "start"),
    ("POST", re.compile(r"^/v1/(bench)es/([0-9a-f]+)/cancel$"), "cancel"),
    ("GET", re.compile(r"^/v1/(capture)s/([0-9a-f]+)/file$"), "download"),
    ("GET", re.compile(r"^/v1/(log)s$"), "read"),
    ("POST", re.compile(r"^/v1/(action)s/([a-z-]+)$"), ""),
)
_AUTHOR: TypeAdapter[str] = TypeAdapter(Author)


class OperationLog:
    """The last operations, on disk. Safe to use from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._kept: deque[Operation] = deque(_read(path), maxlen=KEPT)

    def add(self, author: str, action: str, target: str, result: str, detail: str) -> None:
        """Append one. If the disk does not take it, it is kept in memory."""
        with self._lock:
            last = self._kept[-1].number if self._kept else 0
            # By time: numbers go on when the file is lost.
            number = max(last + 1, time.time_ns() // 1000)
            self._kept.append(
                Operation(
                    number=number,
                    at=datetime.now(UTC).isoformat(timespec="seconds"),
                    author=author,
                    action=action,
                    target=target,
                    result=result,
                    detail=detail[:500],
                )
            )
            text = Operations(operations=tuple(self._kept)).model_dump_json().encode()
            with suppress(OSError):
                durable.write(self._path, text)

    def after(self, number: int) -> Operations:
        """Those with a higher number, the oldest first."""
        with self._lock:
            return Operations(operations=tuple(one for one in self._kept if one.number > number))

    def routes(self) -> list[web.RouteDef]:
        """The endpoint of the web half."""
        return [web.get("/v1/operations", self._list)]

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response(text=self.after(query(request, OperationsQuery).after).model_dump_json())


def noting(operations: OperationLog) -> Middleware:
    """Middleware that records the operations of callers that say they are not the web half."""

    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        known = _known(request.method, request.path, request.query)
        if known is None or request.headers.get(VIA_HEADER) != "cli":
            return await handler(request)
        try:
            author = _AUTHOR.validate_python(unquote(request.headers.get(AUTHOR_HEADER, "")))
        except ValidationError:
            author = "unknown"
        response = await handler(request)
        action, target = known
        failed = response.status >= 400
        detail = _text(response) if failed else ""
        target = target or _target(request.get(ASKED))
        await asyncio.to_thread(
            operations.add, author, action, target, "failed" if failed else "done", detail
        )
        return response

    return note


def _known(method: str, path: str, asked: Mapping[str, str]) -> tuple[str, str] | None:
    """The action and its target, as in the audit log; None for a request it does not record."""
    for wanted, pattern, verb in _ACTIONS:
        found = pattern.match(path) if method == wanted else None
        if found is None:
            continue
        if verb == "download" and asked.get("offset", "0") != "0":
            return None
        if verb == "read":
            return None if "after" in asked or "before" in asked else ("logs.read", asked.get("part", "all"))
        if not verb:
            return f"action.{found[2]}", ""
        return f"{found[1]}.{verb}", found[2] if pattern.groups > 1 else ""
    return None


def _target(asked: object) -> str:
    """The target named in a body."""
    given = asked.model_dump(mode="json") if isinstance(asked, BaseModel) else {}
    question = given.get("question", given)
    words = (
        name if value is True else str(value) if name in _PLAIN else f"{name} {value}"
        for name, value in question.items()
        if name not in _LIMITS and value not in (None, "", False, "both")
    )
    return " ".join(words)[:_MOST_TARGET]


def _text(response: web.StreamResponse) -> str:
    body = response.body if isinstance(response, web.Response) else None
    if not isinstance(body, bytes):
        return ""
    with suppress(ValueError):
        said = json.loads(body)
        if isinstance(said, dict):
            return str(said.get("detail") or said.get("title") or "")
    return ""


def _read(path: Path) -> tuple[Operation, ...]:
    try:
        return Operations.model_validate_json(path.read_bytes()).operations
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        log.warning("%s cannot be read: %s", path, error)
        return ()
