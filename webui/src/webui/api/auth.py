"""Authentication by Bearer token or the browser's session, and the check of the role."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest
from ninja.errors import AuthenticationError
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from webui.accounts import tokens
from webui.accounts.actor import Actor, actor_of
from webui.accounts.models import User
from webui.accounts.roles import Role
from webui.errors import Forbidden, RequestProblem
from webui.http.callers import callers
from webui.http.client_address import client_address, source_of

COUNTS = "counts"
"""The cache of this process: one process serves the API, and all requests are counted in it."""
_GOOD_S = 3600
_SAFE = ("GET", "HEAD", "OPTIONS")


class BearerToken(HttpBearer):
    """``Authorization: Bearer mr_…``: an API token. Its scope and its user's role must both allow the
    request.
    """

    def __init__(self, role: Role) -> None:
        self.role = role
        super().__init__()

    def __call__(self, request: HttpRequest) -> Any:
        """The actor; None without an Authorization header. An invalid header is refused, whatever the
        cookies.
        """
        if "Authorization" not in request.headers:
            return None
        scheme, _, text = request.headers["Authorization"].partition(" ")
        if scheme.lower() != "bearer":
            raise AuthenticationError
        return self.authenticate(request, text.strip())

    def authenticate(self, request: HttpRequest, token: str) -> Actor:
        """The actor of this token."""
        address = client_address(request)
        failures = f"token-failures:{source_of(address)}"
        # A token that was valid a moment ago is not shut out because of others behind the same address.
        good = f"token-good:{tokens.digest(token)}"
        failed = int(caches[COUNTS].get(failures, 0))
        if failed >= settings.TOKEN_FAILURES_PER_MINUTE and caches[COUNTS].get(good) is None:
            raise RequestProblem(429, "Too many bad tokens from this address.", {"Retry-After": "60"})
        found = tokens.find(token)
        if found is None:
            callers.forget(token)
            _count(failures)
            raise AuthenticationError
        callers.remember(token, found.user.pk)
        caches[COUNTS].add(good, 1, _GOOD_S)
        if _count(f"token-requests:{found.pk}") > settings.TOKEN_REQUESTS_PER_MINUTE:
            raise RequestProblem(429, "This token is used too often.", {"Retry-After": "60"})
        if request.method not in _SAFE and not found.write:
            raise Forbidden("This token may only read.")
        actor = Actor(found.user, address, "token", found.write)
        actor.require(self.role)
        return actor


class SessionCookie(APIKeyCookie):
    """The session of the pages, with Django's CSRF token in ``X-CSRFToken`` for writes."""

    param_name = settings.SESSION_COOKIE_NAME

    def __init__(self, role: Role) -> None:
        self.role = role
        super().__init__(csrf=False)

    def authenticate(self, request: HttpRequest, key: str | None) -> Actor | None:  # noqa: ARG002 - ninja's signature
        """The actor of this session; None when nobody is signed in."""
        if not isinstance(request.user, User):
            return None
        if request.method not in _SAFE and check_csrf(request) is not None:
            raise RequestProblem(403, "The CSRF token is missing or wrong.")
        actor = actor_of(request, "session")
        actor.require(self.role)
        return actor


def needs(role: Role) -> list[Any]:
    """The value for an operation's `auth`: a token or a session of a user with `role`."""
    return [BearerToken(role), SessionCookie(role)]


def actor(request: HttpRequest) -> Actor:
    """The actor that the operation's `auth` let in."""
    known = request.auth  # type: ignore[attr-defined]  # ninja puts it there
    assert isinstance(known, Actor)
    return known


def _count(key: str) -> int:
    """Increment a counter that lives a minute; returns its new value."""
    counts = caches[COUNTS]
    counts.add(key, 0, 60)
    try:
        return int(counts.incr(key))
    except ValueError:  # expired between the two
        counts.set(key, 1, 60)
        return 1
