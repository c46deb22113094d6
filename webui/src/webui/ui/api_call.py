"""The REST calls with the same effect as a page, as lines to paste into a shell."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

API = "/api/v1"
_LONGEST_BODY = 16 * 1024
"""The most characters of a body in a line; a longer body is read from a file."""


@dataclass(frozen=True)
class ApiCall:
    """One call: its purpose, and its curl line."""

    title: str
    line: str


def call(title: str, method: str, path: str, body: Any = None) -> ApiCall:
    """A call of `path` below the API's root. Values are quoted for a shell."""
    parts = ["curl", "--cacert", '"$CA_FILE"', "-H", '"Authorization: Bearer $TOKEN"']
    if method != "GET":
        parts += ["-X", method]
    if body is not None:
        text = json.dumps(body)
        # A page does not carry a long object a second time, and a shell limits the length of a line.
        data = shlex.quote(text) if len(text) <= _LONGEST_BODY else "@object.json"
        parts += ["-H", "'Content-Type: application/json'", "--data-binary" if data[0] == "@" else "-d", data]
    target = quote(API + path, safe="/~:?=&{}@,;.-_")
    return ApiCall(title, " ".join([*parts, f'"$BASE_URL{target}"']))


def calls_for(pointer: str, value: Any = None, *, new: bool = False) -> tuple[ApiCall, ...]:
    """The calls for one object of the document."""
    path = "/config" + pointer
    write = call("Set it, as one commit", "PUT", path, value if value is not None else {})
    collect = call(
        "Set it in a change set instead", "PUT", path + "?change=ID", value if value is not None else {}
    )
    if new:
        return (write, collect)
    return (call("Read it", "GET", path), write, collect, call("Remove it", "DELETE", path))


def reads(*paths: tuple[str, str]) -> tuple[ApiCall, ...]:
    """Calls that read, as pairs of title and path."""
    return tuple(call(title, "GET", path) for title, path in paths)
