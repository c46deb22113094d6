"""Role checks for pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from webui.accounts.models import User
from webui.accounts.roles import Role

View = Callable[..., HttpResponse]


def role_required(role: Role) -> Callable[[View], View]:
    """Let users with `role` in; send others to the login page, or raise PermissionDenied when logged in."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not isinstance(request.user, User):
                return redirect_to_login(request.get_full_path())
            if not request.user.has_role(role):
                raise PermissionDenied(f"This needs the role {role.value}.")
            return view(request, *args, **kwargs)

        checked.required_role = role  # type: ignore[attr-defined]  # tests read it to table pages by role
        return checked

    return decorate
