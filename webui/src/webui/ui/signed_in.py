"""The user of a request that has passed a role check."""

from __future__ import annotations

from django.http import HttpRequest

from webui.accounts.models import User


def user_of(request: HttpRequest) -> User:
    """The signed-in user. Raises PermissionError where a view lacks its role check."""
    if not isinstance(request.user, User):
        raise PermissionError("this page needs a signed-in user")
    return request.user
