"""Browsers and addresses that signed in before; this distinguishes them from strangers while somebody guesses
passwords.

A browser keeps a signed cookie that names its user. The cookie proves no identity and lets nobody in. Its
holder may wait in the queue of the known and is not locked out because of others.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from webui.accounts.models import AuditEntry
from webui.http.client_address import source_of

COOKIE = "millrace_device"
_KEPT = timedelta(days=90)
_SALT = "webui.accounts.known_devices"
_ADDRESSES_KEPT = timedelta(days=30)
_MOST_LOGINS = 1000
_READ_EVERY_S = 60.0


@dataclass(frozen=True)
class Device:
    """A browser of a user."""

    username: str
    number: str
    """Random; distinguishes it from the user's other browsers."""


def device_of(request: HttpRequest) -> Device | None:
    """The browser, from a cookie that we signed; None for a stranger's. Costs an HMAC, no query."""
    text = request.COOKIES.get(COOKIE, "")
    if not text or len(text) > 512:
        return None
    try:
        username, number = signing.loads(text, salt=_SALT, max_age=_KEPT)
    except (signing.BadSignature, ValueError):
        return None
    return Device(str(username), str(number))


def remember(response: HttpResponse, username: str, device: Device | None) -> None:
    """Store in the browser who signed in with it."""
    number = (
        device.number if device is not None and device.username == username else secrets.token_urlsafe(12)
    )
    response.set_cookie(
        COOKIE,
        signing.dumps([username, number], salt=_SALT),
        max_age=_KEPT,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
        path="/login",
    )


class KnownSources:
    """The addresses from which users signed in during the last 30 days, from the audit log. Asking costs
    no query.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._pairs: frozenset[tuple[str, str]] = frozenset()
        self._read_at: float | None = None

    def knows(self, username: str, source: str) -> bool:
        """Whether the user signed in from there, according to the last reading."""
        return (username, source) in self._pairs

    def add(self, username: str, source: str) -> None:
        """Record that the user has just signed in from there."""
        with self._lock:
            self._pairs |= {(username, source)}

    def is_due(self) -> bool:
        """Whether it is time to `read` again. True for only one caller in a minute."""
        with self._lock:
            now = self._clock()
            if self._read_at is not None and now - self._read_at < _READ_EVERY_S:
                return False
            self._read_at = now
            return True

    def read(self) -> None:
        """Read the audit log. Queries the database: for a thread."""
        rows = AuditEntry.objects.filter(
            action="login", result="done", time__gte=timezone.now() - _ADDRESSES_KEPT
        ).values_list("username", "address")
        pairs = frozenset((username, source_of(address)) for username, address in rows[:_MOST_LOGINS])
        with self._lock:
            self._pairs = pairs

    def forget(self) -> None:
        """Forget everyone until it is read again."""
        with self._lock:
            self._pairs, self._read_at = frozenset(), None
