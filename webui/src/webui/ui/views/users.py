"""Users, for admins."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from appliance.errors import Conflict, ValidationFailed
from webui.accounts import services
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.models import User
from webui.accounts.roles import Role
from webui.ui.api_call import reads
from webui.ui.page import show, tell
from webui.ui.views.tokens import tokens_ended


@require_GET
@role_required(Role.ADMIN)
def users(request: HttpRequest) -> HttpResponse:
    """Every user, and the form of a new one."""
    return _page(request)


def _page(request: HttpRequest, extra: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    context = {
        "users": User.objects.order_by("username"),
        "roles": Role.choices,
        "api_calls": reads(("Read them", "/users")),
    }
    return show(request, "ui/users.html", "users", {**context, **(extra or {})}, status=status)


@require_POST
@role_required(Role.ADMIN)
def add_user(request: HttpRequest) -> HttpResponse:
    """A new user; after an error the form keeps the input, except the password."""
    username, role = request.POST.get("username", "").strip(), request.POST.get("role", "")
    try:
        services.create_user(actor_of(request), username, request.POST.get("password", ""), role)
    except (ValidationFailed, Conflict) as error:
        errors: dict[str, list[str]] = {}
        for problem in getattr(error, "problems", ()):
            errors.setdefault(problem.pointer.strip("/"), []).append(problem.message)
        kept = {"errors": errors or {"username": [str(error)]}, "typed_name": username, "typed_role": role}
        return _page(request, kept, status=422)
    tell(request, f"User {username} can sign in.")
    return redirect("ui:users")


@require_POST
@role_required(Role.ADMIN)
def change_user(request: HttpRequest, user_id: int) -> HttpResponse:
    """Role, password, whether the user may sign in, or removal: ``action`` says which."""
    user = services.find_user(user_id)
    actor = actor_of(request)
    try:
        match request.POST.get("action"):
            case "role":
                services.set_role(actor, user, request.POST.get("role", ""))
                tell(request, f"{user.username} is {request.POST.get('role')} now.")
            case "password":
                end_tokens = request.POST.get("end_tokens") == "on"
                ended = services.set_password(
                    actor, user, request.POST.get("password", ""), end_tokens=end_tokens
                )
                told = tokens_ended(end_tokens, ended)
                tell(request, f"{user.username} has a new password. Their sessions ended; {told}.")
            case "disable" | "enable" as action:
                services.set_active(actor, user, action == "enable")
                tell(request, f"{user.username} is {action}d.")
            case "delete":
                services.delete_user(actor, user)
                tell(request, f"{user.username} is removed.")
            case _:
                tell(request, "Nothing was done.", "warning")
    except (ValidationFailed, Conflict) as error:
        texts = [problem.message for problem in getattr(error, "problems", ())]
        tell(request, "; ".join(texts) or str(error), "error")
    return redirect("ui:users")
