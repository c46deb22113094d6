"""The event loop decides who may try a password, before the attempt takes a thread or a place in a queue.

The decision costs a form of 16 KiB at most, an HMAC of the browser's cookie and counts in memory: no query,
no thread. Known sources take a lane of their own, strangers share one by rank, and a source over a limit is
answered at once.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import timedelta
from http.cookies import CookieError
from io import BytesIO
from typing import Any

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string

from webui.accounts.sign_in_gate import Attempt, SignInGate, SignInRefused
from webui.accounts.sign_in_tally import tally
from webui.http.body_limit import Scope, Send
from webui.http.client_address import client_address, client_source
from webui.http.lane_choice import SIGN_IN, STRANGERS
from webui.http.security_headers import CONTENT_SECURITY_POLICY

MOST_OF_A_NAME = 150
"""Longer names are cut, both here and in the view."""


@dataclass(frozen=True)
class Admission:
    """Where an admitted attempt waits."""

    lane: str
    client: str
    """The attempt's identity in the lane: a source, or a known browser."""
    rank: float
    attempt: Attempt
    address: str


class SignInDoor:
    """The gate, for requests that do not have a thread yet."""

    def __init__(self, gate: SignInGate) -> None:
        self._gate = gate

    def admit(self, scope: Scope, body: bytes) -> Admission:
        """Let one attempt in, or raise SignInRefused."""
        # The view refuses a query that is not text.
        request = ASGIRequest({**scope, "query_string": b""}, BytesIO(body))
        attempt = self._gate.admit_at_the_door(request, _username(request), scope)
        client = client_source(request)
        if not attempt.known:
            return Admission(STRANGERS, client, attempt.rank, attempt, client_address(request))
        if attempt.device is not None and attempt.device.username == attempt.username:
            client = f"device {attempt.device.number}"
        return Admission(SIGN_IN, client, 0.0, attempt, client_address(request))

    @staticmethod
    def turn_away(admission: Admission) -> None:
        """Its lane had no place: it counts as refused, and against no limit."""
        admission.attempt.take_back()
        tally.refused(admission.attempt.username, admission.address, at_once=False)

    @property
    def is_reading_due(self) -> bool:
        """Whether it is time to `read` the known sources."""
        return self._gate.known_sources.is_due()

    def read(self) -> None:
        """Read the addresses from which users signed in. Queries the database, so it runs in a thread."""
        self._gate.known_sources.read()


async def refuse(send: Send, refused: SignInRefused) -> None:
    """The page that says when to try again."""
    body = _page(refused.retry_after_s)
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", str(refused.retry_after_s).encode()),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@functools.lru_cache(maxsize=64)
def _page(retry_after_s: int) -> bytes:
    context: dict[str, Any] = {"cooloff_timedelta": timedelta(seconds=retry_after_s)}
    return render_to_string("ui/lockout.html", context).encode()


def _username(request: ASGIRequest) -> str:
    """Read as the view reads it; a name that the view cannot read belongs to nobody."""
    try:
        return str(request.POST.get("username", ""))[:MOST_OF_A_NAME]
    except (BadRequest, SuspiciousOperation, MultiPartParserError, CookieError, ValueError):
        return ""
