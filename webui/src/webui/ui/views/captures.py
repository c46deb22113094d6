"""Packet captures: begun by a form, followed while they run, downloaded and removed."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST
from pydantic import ValidationError

from appliance.config.pointer import split
from appliance.errors import MillraceError, ValidationFailed
from appliance.state.captures import (
    KEPT_BYTES,
    MOST_KEPT,
    MOST_PACKETS,
    MOST_SECONDS,
    CaptureWanted,
)
from webui import router_captures
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.ui.api_call import call, reads
from webui.ui.page import look, look_at_candidate, show, tell

_MIB = 1024 * 1024
_NUMBERS = ("packets", "seconds", "snap_bytes")
_FIRST = {"direction": "both", "packets": "1000", "seconds": "60", "snap_bytes": "9000", "size_mib": "16"}


@require_GET
@role_required(Role.VIEWER)
def captures(request: HttpRequest) -> HttpResponse:
    """The form, and the captures that run or are kept."""
    return _page(request, {**_FIRST, **request.GET.dict()}, {})


@require_GET
@role_required(Role.VIEWER)
def capture_list(request: HttpRequest) -> HttpResponse:
    """The list alone, which asks again while one of it runs."""
    return render(request, "ui/capture_list.html", _list(request))


@require_POST
@role_required(Role.OPERATOR)
def start(request: HttpRequest) -> HttpResponse:
    """Begins a capture; what is wrong is shown at its field."""
    given = request.POST.dict()
    try:
        state = router_captures.start(actor_of(request), _wanted(given))
    except ValidationError as error:
        wrong = {str(entry["loc"][0]): entry["msg"] for entry in error.errors(include_url=False)}
        return _page(request, given, wrong, 422)
    except ValidationFailed as error:
        wrong = {(split(one.pointer) or [""])[0]: one.message for one in error.problems}
        return _page(request, given, wrong, 422)
    except MillraceError as error:
        return _page(request, given, {"": str(error)}, 422)
    tell(request, f"Packets of {state.interface} are captured.")
    return redirect("ui:captures")


@require_POST
@role_required(Role.OPERATOR)
def stop(request: HttpRequest, capture: str) -> HttpResponse:
    """Ends a capture."""
    state = router_captures.stop(actor_of(request), capture)
    tell(request, f"The capture on {state.interface} has ended with {state.packets} packets.")
    return redirect("ui:captures")


@require_POST
@role_required(Role.OPERATOR)
def remove(request: HttpRequest, capture: str) -> HttpResponse:
    """Removes a capture and its file."""
    state = router_captures.remove(actor_of(request), capture)
    tell(request, f"The capture on {state.interface} is removed.")
    return redirect("ui:captures")


@require_GET
@role_required(Role.OPERATOR)
def download(request: HttpRequest, capture: str) -> HttpResponse:
    """The file of a capture."""
    return cast(HttpResponse, router_captures.file(actor_of(request), capture))


def _wanted(given: dict[str, str]) -> CaptureWanted:
    """Raises pydantic's ValidationError, its places the form's fields."""
    numbers: dict[str, Any] = {name: given[name] for name in _NUMBERS if given.get(name, "").strip()}
    mib = given.get("size_mib", "").strip()
    if mib:
        numbers["size_bytes"] = int(mib) * _MIB if mib.isdecimal() and len(mib) < 7 else mib
    return CaptureWanted.model_validate(
        {**{name: given.get(name, "") for name in ("interface", "direction", "filter")}, **numbers}
    )


def _list(request: HttpRequest) -> dict[str, Any]:
    found = look(router_captures.kept, ())
    return {
        "captures": found.value,
        "failure": found.failure,
        "runs": any(one.state == "running" for one in found.value),
        "may_operate": actor_of(request).user.has_role(Role.OPERATOR),
    }


def _page(
    request: HttpRequest, given: dict[str, str], wrong: dict[str, str], status: int = 200
) -> HttpResponse:
    candidate, away = look_at_candidate(request)
    interfaces = sorted(candidate.running.get("interfaces", {}))
    example = {"interface": (interfaces or ["wan0"])[0], "filter": "tcp port 179", "seconds": 30}
    context = {
        "away": away,
        "interfaces": interfaces,
        "given": given,
        "wrong": {**wrong, **({"size_mib": wrong["size_bytes"]} if "size_bytes" in wrong else {})},
        "most_packets": MOST_PACKETS,
        "most_seconds": MOST_SECONDS,
        "most_kept": MOST_KEPT,
        "kept_bytes": KEPT_BYTES,
        "directions": (("both", "both"), ("in", "in"), ("out", "out")),
        **_list(request),
        "api_calls": (
            call("Begin", "POST", "/captures", example),
            *reads(("List", "/state/captures"), ("Download", "/captures/ID/file")),
            call("Stop", "POST", "/captures/ID/stop"),
            call("Remove", "DELETE", "/captures/ID"),
        ),
    }
    return show(request, "ui/captures.html", "captures", context, status=status)
