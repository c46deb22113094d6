"""The answer to a request whose lane is full, given at once, without a thread and without the database."""

from __future__ import annotations

import functools
import json
from typing import Any

from django.template.loader import render_to_string

from webui.http.body_limit import Refusal, Send
from webui.http.lane_choice import is_for_programs
from webui.http.security_headers import CONTENT_SECURITY_POLICY
from webui.problems import CONTENT_TYPE, ProblemDocument

RETRY_AFTER_S = 1
_DETAIL = "The web server is busy and did not begin this request. Send it again in a moment."
REFUSAL = Refusal(503, _DETAIL, {"Retry-After": str(RETRY_AFTER_S)})
"""The same, of a body that is not read."""


async def refuse(scope: dict[str, Any], send: Send) -> None:
    """503 with Retry-After: a problem document, a page that reloads itself, or a page to go back from."""
    if is_for_programs(scope["path"]) or _is_partial(scope):
        kind, body = CONTENT_TYPE, _problem()
    else:
        kind, body = "text/html; charset=utf-8", _page(scope["method"] in ("GET", "HEAD"))
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", str(RETRY_AFTER_S).encode()),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _is_partial(scope: dict[str, Any]) -> bool:
    """Whether a page's script asks for a part of the page."""
    return any(name == b"hx-request" for name, _ in scope["headers"])


@functools.cache
def _problem() -> bytes:
    problem = ProblemDocument(503, _DETAIL, "The web server is busy", "urn:millrace:busy")
    return json.dumps(problem.to_json()).encode()


@functools.cache
def _page(may_reload: bool) -> bytes:
    """Rendered once: rendering a page for each request would use the resources that have run out."""
    return render_to_string("ui/busy.html", {"may_reload": may_reload}).encode()
