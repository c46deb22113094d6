"""Checks again whether a caller is still permitted, for answers that go on for a long time."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

from webui.accounts import tokens
from webui.accounts.models import User
from webui.accounts.roles import Role


def still_allowed(request: HttpRequest, role: Role) -> Callable[[], bool]:
    """A function that checks the token or the session of `request` again, and the role of its user.

    It may be called in any thread, and keeps no more of the request than it needs.
    """
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme:
        return lambda: _token_allows(token.strip(), role)
    key = request.session.session_key
    return lambda: _session_allows(key, role)


def _token_allows(text: str, role: Role) -> bool:
    found = tokens.find(text)
    return found is not None and found.user.has_role(role)


def _session_allows(key: str | None, role: Role) -> bool:
    asked = HttpRequest()
    asked.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(asked)
    return isinstance(user, User) and user.has_role(role)
