"""The largest permitted body of a request, by sender and path, determined before the body is read."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError, InterfaceError, connections
from django.http import HttpRequest
from ninja.errors import AuthenticationError

from appliance.errors import MillraceError
from webui.accounts.models import User
from webui.accounts.roles import Role
from webui.api.auth import BearerToken
from webui.http.body_limit import Refusal
from webui.postgresql.patience import REQUEST_S, patience
from webui.problems import from_exception

_PART_BYTES = 17 * 1024 * 1024
"""A part of an upgrade file and its envelope."""
_PAGE_BYTES = 8 * 1024 * 1024
"""A form of the pages, such as a whole access list pasted at once."""
_SMALL_BYTES = 1024 * 1024
_LOGIN_BYTES = 16 * 1024
"""A name and a password, which are read on the event loop."""


@dataclass(frozen=True)
class _Allowance:
    """The limits of one part of the site, and for which senders."""

    prefix: str
    role: Role
    most_bytes: int


_ALLOWANCES = (
    _Allowance("/api/v1/config", Role.ENGINEER, settings.DATA_UPLOAD_MAX_MEMORY_SIZE),
    _Allowance("/api/v1/upgrade", Role.ADMIN, _PART_BYTES),
    _Allowance("/configuration/upload", Role.ENGINEER, settings.DATA_UPLOAD_MAX_MEMORY_SIZE),
    _Allowance("/api/", Role.VIEWER, _SMALL_BYTES),
    _Allowance("/edit/", Role.ENGINEER, _PAGE_BYTES),
    _Allowance("/add/", Role.ENGINEER, _PAGE_BYTES),
    _Allowance("/acls", Role.ENGINEER, _PAGE_BYTES),
    _Allowance("/login", Role.VIEWER, _LOGIN_BYTES),
    _Allowance("/", Role.VIEWER, _SMALL_BYTES),
)


def most_bytes(path: str) -> int:
    """The largest body that anyone may send there."""
    return _of(path).most_bytes


def check_sender(scope: dict[str, Any]) -> Refusal | None:
    """Why this sender may not send a large body there, or None. Queries the database, so it runs in a
    thread.
    """
    allowance = _of(scope["path"])
    # The view refuses a query that is not text.
    request = ASGIRequest({**scope, "query_string": b""}, BytesIO())
    try:
        with patience(REQUEST_S):
            user = _user(request)
    except AuthenticationError:
        user = None
    except MillraceError as error:
        status = getattr(error, "status", 403)
        return Refusal(status, str(error), dict(getattr(error, "headers", {})))
    except (DatabaseError, InterfaceError) as error:
        problem = from_exception(error)
        if problem is None:
            raise
        return Refusal(problem.status, problem.detail, problem.headers)
    finally:
        connections.close_all()
    if user is None:
        detail = "Give a valid API token, or sign in, before sending a body of this size."
        return Refusal(401, detail, {"WWW-Authenticate": 'Bearer realm="millrace"'})
    if not user.has_role(allowance.role):
        return Refusal(403, f"This needs the role {allowance.role.value}; {user.username} has {user.role}.")
    return None


def _user(request: HttpRequest) -> User | None:
    actor = BearerToken(Role.VIEWER)(request)
    if actor is not None:
        found: User = actor.user
        return found
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not key:
        return None
    request.session = SessionStore(key)
    user = get_user(request)
    return user if isinstance(user, User) and user.is_active else None


def _of(path: str) -> _Allowance:
    return next(one for one in _ALLOWANCES if path.startswith(one.prefix) or one.prefix == "/")
