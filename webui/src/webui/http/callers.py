"""Whose request it is, before anything is looked up: a user whose credential was good lately, or a stranger.

What is shared among all requests (threads, places in queues, bodies under way, streams) is divided by caller,
and strangers never get all of it. A credential counts as good after it let somebody in; nobody is let in
because it is remembered here.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import parse_cookie

from webui.http.client_address import source_of

GOOD_S = 3600.0
"""A credential that nobody has used for this long is forgotten."""
MOST = 4096


@dataclass(frozen=True)
class Caller:
    """The sender of a request, as far as is known before it is authenticated."""

    client: str
    """The unit that shares are counted by: a user, or a stranger's source (IPv6: its /64)."""
    known: bool
    source: str
    """The source, of users too."""


class Callers:
    """The users behind the credentials that were good lately, in bounded memory. Holds no credential, only
    digests under a key of this process. Any thread may use it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = MOST) -> None:
        self._clock, self._most = clock, most
        self._key = secrets.token_bytes(32)
        self._good: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, credential: str, user: object) -> None:
        """This token or session key let in this user just now."""
        digest = self._digest(credential)
        with self._lock:
            self._good[digest] = (str(user), self._clock())
            self._good.move_to_end(digest)
            while len(self._good) > self._most:
                self._good.popitem(last=False)

    def forget(self, credential: str) -> None:
        """This token or session key let nobody in."""
        with self._lock:
            self._good.pop(self._digest(credential), None)

    def of(self, scope: dict[str, Any]) -> Caller:
        """The caller of a request: memory only, no query."""
        source = source_of((scope.get("client") or ("",))[0])
        for credential in _credentials(scope):
            digest = self._digest(credential)
            with self._lock:
                user, at = self._good.get(digest, ("", 0.0))
            if user and self._clock() - at < GOOD_S:
                return Caller(f"user {user}", True, source)
        return Caller(source, False, source)

    def _digest(self, credential: str) -> bytes:
        return hashlib.blake2b(credential.encode(errors="replace"), key=self._key, digest_size=16).digest()


def _credentials(scope: dict[str, Any]) -> list[str]:
    """Bearer token and session key, as they came."""
    found = []
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            if scheme.lower() == "bearer":
                found.append(token.strip())
        elif name == b"cookie":
            key = parse_cookie(value.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)
            if key:
                found.append(key)
    return found


callers = Callers()
"""Those of this process, which serves all requests."""
