"""Values that every template may use."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from webui import __version__, router_state
from webui.accounts.models import User
from webui.accounts.roles import Role


def router(request: HttpRequest) -> dict[str, Any]:
    """The user's roles, their change set, a commit that waits for confirmation, and the version."""
    user = request.user if hasattr(request, "user") else None
    if not isinstance(user, User):
        return {
            "can": dict.fromkeys(Role.values, False),
            "change": None,
            "pending_confirm": None,
            "version": __version__,
        }

    def change() -> Any:
        from webui.changes.services import current

        return current(user)

    return {
        "can": {role.value: user.has_role(role) for role in Role},
        "change": SimpleLazyObject(change),
        "pending_confirm": SimpleLazyObject(router_state.pending_confirm),
        "version": __version__,
    }
