"""Packet captures: started by a form, followed while they run, downloaded and removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST
from pydantic import ValidationError

from appliance.config.pointer import split
from appliance.config.problem_text import message_of
from appliance.errors import MillraceError, ValidationFailed
from appliance.state.captures import (
    KEPT_BYTES,
    LEAST_SNAP_BYTES,
    MOST_BYTES,
    MOST_KEPT,
    MOST_PACKETS,
    MOST_SECONDS,
    MOST_SNAP_BYTES,
    CaptureState,
    CaptureWanted,
)
from webui import router_captures
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.ui.api_call import call, reads
from webui.ui.page import look, look_at_candidate, show, tell

_MIB = 1024 * 1024


@dataclass(frozen=True)
class _Limit:
    """A number of the form: the field of CaptureWanted that it sets, and its unit."""

    name: str
    title: str
    words: str
    """The unit in words."""
    least: int
    most: int
    first: int
    unit: int = 1


_LIMITS = (
    _Limit("packets", "Packets", "packets", 1, MOST_PACKETS, 1000),
    _Limit("seconds", "Seconds", "seconds", 1, MOST_SECONDS, 60),
    _Limit("size_bytes", "File, MiB", "MiB in the file", 1, MOST_BYTES // _MIB, 16, _MIB),
    _Limit(
        "snap_bytes",
        "Bytes of a packet",
        "bytes of each packet",
        LEAST_SNAP_BYTES,
        MOST_SNAP_BYTES,
        MOST_SNAP_BYTES,
    ),
)
_FIRST = {"direction": "both", **{limit.name: str(limit.first) for limit in _LIMITS}}


class _Wrong(Exception):
    """The problems, by the form's field; "" is the form itself."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields
        super().__init__()


@require_GET
@role_required(Role.VIEWER)
def captures(request: HttpRequest) -> HttpResponse:
    """The form, and the running and kept captures."""
    return _page(request, {**_FIRST, **request.GET.dict()}, {})


@require_GET
@role_required(Role.VIEWER)
def capture_list(request: HttpRequest) -> HttpResponse:
    """The list alone, which refreshes while one of its captures runs.

    While the same captures run, only their numbers are replaced, so that a button being pressed stays in
    place.
    """
    context = _list(request)
    if not context["failure"] and context["running"] == request.GET.get("running"):
        response = render(request, "ui/capture_numbers.html", context)
        response["HX-Reswap"] = "none"
        return response
    return render(request, "ui/capture_list.html", context)


@require_POST
@role_required(Role.OPERATOR)
def start(request: HttpRequest) -> HttpResponse:
    """Starts a capture; problems are shown at their fields."""
    given = request.POST.dict()
    try:
        state = _start(request, given)
    except _Wrong as error:
        return _page(request, given, error.fields, 422)
    tell(request, f"Packets of {state.interface} are captured.")
    return redirect("ui:captures")


@require_POST
@role_required(Role.OPERATOR)
def stop(request: HttpRequest, capture: str) -> HttpResponse:
    """Ends a capture."""
    state = router_captures.stop(actor_of(request), capture)
    if state.state == "running":
        return _told(request, f"The capture on {state.interface} ends as soon as its file is written.")
    return _told(request, f"The capture on {state.interface} has ended with {state.packets} packets.")


@require_POST
@role_required(Role.OPERATOR)
def remove(request: HttpRequest, capture: str) -> HttpResponse:
    """Removes a capture and its file."""
    state = router_captures.remove(actor_of(request), capture)
    return _told(request, f"The capture on {state.interface} is removed.")


def _told(request: HttpRequest, sentence: str) -> HttpResponse:
    tell(request, sentence)
    return redirect("ui:captures")


@require_GET
@role_required(Role.OPERATOR)
def download(request: HttpRequest, capture: str) -> HttpResponse:
    """The file of a capture."""
    return cast(HttpResponse, router_captures.file(actor_of(request), capture))


def _start(request: HttpRequest, given: dict[str, str]) -> CaptureState:
    """Raises _Wrong."""
    try:
        return router_captures.start(actor_of(request), _wanted(given))
    except ValidationError as error:
        found = ((str(entry["loc"][0]), message_of(entry)) for entry in error.errors(include_url=False))
        raise _Wrong(dict(found)) from error
    except ValidationFailed as error:
        raise _Wrong({(split(one.pointer) or [""])[0]: one.message for one in error.problems}) from error
    except MillraceError as error:
        raise _Wrong({"": str(error)}) from error


def _wanted(given: dict[str, str]) -> CaptureWanted:
    """Raises _Wrong for numbers, and pydantic's ValidationError, whose places are the form's fields."""
    numbers: dict[str, int] = {}
    wrong: dict[str, str] = {}
    for limit in _LIMITS:
        text = given.get(limit.name, "").strip()
        if not text:
            continue
        if text.isdecimal() and len(text) < 9 and limit.least <= int(text) <= limit.most:
            numbers[limit.name] = int(text) * limit.unit
        else:
            wrong[limit.name] = f"must be a whole number from {limit.least} to {limit.most}"
    if wrong:
        raise _Wrong(wrong)
    words = {name: given.get(name, "") for name in ("interface", "direction", "filter")}
    return CaptureWanted.model_validate({**words, **numbers})


def _list(request: HttpRequest) -> dict[str, Any]:
    found = look(router_captures.kept, ())
    return {
        "captures": found.value,
        "failure": found.failure,
        "running": ",".join(one.id for one in found.value if one.state == "running"),
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
        "wrong": wrong,
        "limits": [(limit, given.get(limit.name, ""), wrong.get(limit.name, "")) for limit in _LIMITS],
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
