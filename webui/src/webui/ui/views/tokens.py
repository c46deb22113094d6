"""The user's own API tokens (admins see those of all users), and the user's own password."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from appliance.errors import ValidationFailed
from webui.accounts import services, tokens
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.models import ApiToken
from webui.accounts.roles import Role
from webui.errors import RequestProblem
from webui.ui.api_call import call, reads
from webui.ui.page import show, tell
from webui.ui.signed_in import user_of
from webui.ui.whole_number import whole

LIFETIMES = ((1, "1 day"), (30, "30 days"), (90, "90 days"), (365, "1 year"), (0, "no end"))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@role_required(Role.VIEWER)
def token_page(request: HttpRequest) -> HttpResponse:
    """The list; a POST makes a token, whose text is shown only this once."""
    if request.method != "POST":
        return _page(request)
    name = request.POST.get("name", "")
    days = whole(request.POST.get("days", "90"))
    lifetime = days if days is not None and days in dict(LIFETIMES) else 90
    expires = timezone.now() + timedelta(days=lifetime) if lifetime else None
    user = user_of(request)
    try:
        token, text = tokens.create(
            actor_of(request), user, name, request.POST.get("scope") == "write", expires
        )
    except ValidationFailed as error:
        return _page(
            request, {"error": "; ".join(one.message for one in error.problems), "typed_name": name}, 422
        )
    return _page(request, {"made": token, "made_text": text})


def _page(request: HttpRequest, extra: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    user = user_of(request)
    everyone = user.has_role(Role.ADMIN) and request.GET.get("all") == "1"
    listed = ApiToken.objects.select_related("user").order_by("-created_at")
    context = {
        "tokens": listed if everyone else listed.filter(user=user),
        "everyone": everyone,
        "lifetimes": LIFETIMES,
        "api_calls": (
            *reads(("Read them", "/tokens")),
            call("Make one", "POST", "/tokens", {"name": "ci", "write": False}),
        ),
    }
    return show(request, "ui/tokens.html", "tokens", {**context, **(extra or {})}, status=status)


@require_POST
@role_required(Role.VIEWER)
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    """Ends a token."""
    token = tokens.of_number(token_id)
    tokens.revoke(actor_of(request), token)
    tell(request, f"Token {token.name} is revoked.")
    return redirect("ui:tokens")


@require_POST
@role_required(Role.VIEWER)
def own_password(request: HttpRequest) -> HttpResponse:
    """Sets the user's own password, given the present one; this session stays."""
    user, actor = user_of(request), actor_of(request)
    if request.POST.get("password", "") != request.POST.get("again", ""):
        return _page(request, {"password_error": "The two new passwords differ."}, 422)
    end_tokens = request.POST.get("end_tokens") == "on"
    try:
        confirmed = services.confirm(actor, request.POST.get("present", ""))
        ended = services.set_password(actor, user, request.POST.get("password", ""), confirmed, end_tokens)
    except ValidationFailed as error:
        return _page(request, {"password_error": "; ".join(one.message for one in error.problems)}, 422)
    except RequestProblem as problem:
        return _page(request, {"password_error": problem.detail}, problem.status)
    update_session_auth_hash(request, user)
    tell(request, f"Your password is changed. Your other sessions ended; {tokens_ended(end_tokens, ended)}.")
    return redirect("ui:tokens")


def tokens_ended(asked: bool, ended: services.Ended) -> str:
    """The effect of a new password on the user's tokens, as the end of a sentence."""
    if not asked:
        return "API tokens were kept"
    return {0: "there was no API token to end", 1: "1 API token ended"}.get(
        ended.tokens, f"{ended.tokens} API tokens ended"
    )
