"""Upgrades of the router, for admins: slots, the file, progress, and the result of the last one."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from appliance.errors import MillraceError
from webui import router_upgrade
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.router_upgrade import MAX_FILE_BYTES, MAX_PART_BYTES
from webui.ui.api_call import call, reads
from webui.ui.page import look, show, tell

_MOVING = {"starting", "checking", "writing", "verifying", "rebooting"}


@require_GET
@role_required(Role.ADMIN)
def upgrade(request: HttpRequest) -> HttpResponse:
    """The page."""
    live = look(router_upgrade.state, {"available": False, "reason": ""})
    context = {
        **_context(live.value),
        "failure": live.failure,
        "part_bytes": MAX_PART_BYTES // 2,
        "most_bytes": MAX_FILE_BYTES,
        "api_calls": (
            *reads(("Slots and progress", "/upgrade")),
            call("Install what was sent", "POST", "/upgrade/install", {}),
            call("Boot the other slot", "POST", "/upgrade/switch", {}),
        ),
    }
    return show(request, "ui/upgrade.html", "upgrade", context)


@require_GET
@role_required(Role.ADMIN)
def progress(request: HttpRequest) -> HttpResponse:
    """The progress; when the upgrade is over, the whole page reloads.

    The router reboots in between: the page keeps polling until it is back.
    """
    live = look(router_upgrade.state, None)
    if live.failed:
        return HttpResponse(status=503)
    context = _context(live.value)
    response = render(request, "ui/upgrade_progress.html", context)
    if not context["moving"]:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@role_required(Role.ADMIN)
def install(request: HttpRequest) -> HttpResponse:
    """Writes the file into the other slot, and boots it unless ``reboot`` is 0."""
    try:
        router_upgrade.install(
            actor_of(request),
            request.POST.get("reboot") != "0",
            None,
            request.POST.get("allow_downgrade") == "1",
        )
    except MillraceError as error:
        tell(request, str(error), "error")
    return redirect("ui:upgrade")


@require_POST
@role_required(Role.ADMIN)
def switch(request: HttpRequest) -> HttpResponse:
    """Boots the other slot as it is."""
    try:
        router_upgrade.switch(actor_of(request), None, request.POST.get("allow_downgrade") == "1")
    except MillraceError as error:
        tell(request, str(error), "error")
    return redirect("ui:upgrade")


@require_POST
@role_required(Role.ADMIN)
def forget(request: HttpRequest) -> HttpResponse:
    """Removes the file."""
    try:
        router_upgrade.forget(actor_of(request))
    except MillraceError as error:
        tell(request, str(error), "error")
    else:
        tell(request, "The upgrade file is removed.", "info")
    return redirect("ui:upgrade")


def _context(found: dict[str, Any]) -> dict[str, Any]:
    slots, now, last = found.get("slots"), found.get("progress"), found.get("attempt")
    on_trial = bool(slots and slots["on_trial"])
    pending = bool(last and last["outcome"] == "pending")
    return {
        "found": found,
        "rows": [_row(slots, slot) for slot in ("a", "b")] if slots else [],
        "progress": now,
        "attempt": last,
        "on_trial": on_trial,
        "moving": on_trial or pending or bool(now and now["state"] in _MOVING),
    }


def _row(slots: dict[str, Any], slot: str) -> dict[str, Any]:
    """A slot as the table shows it."""
    content = slots["contents"].get(slot)
    return {
        "slot": slot,
        "version": content["version"] if content else "",
        "whole": bool(content and content["whole"]),
        "older": bool(content and content["older"]),
        "running": slots["running"] == slot,
        "good": slots["good"] == slot,
        "next": slots["next"] == slot,
    }
