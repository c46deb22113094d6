"""Packet traces: started by a form, followed while they run, and their packets node by node."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST
from pydantic import ValidationError

from appliance.config.problem_text import message_of
from appliance.errors import MillraceError, ValidationFailed
from appliance.state.hardware import HARDWARE
from appliance.state.traces import MOST_KEPT, MOST_PACKETS, MOST_SECONDS, TraceState, TraceWanted
from webui import router_traces
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import call, reads
from webui.ui.page import look, look_at_candidate, show, tell
from webui.ui.pager import pager

_NUMBERS = {"packets": MOST_PACKETS, "seconds": MOST_SECONDS}
_FIRST = {"packets": "50", "seconds": "10"}
_SHOWN = 50
"""Packets on one page."""


class _Wrong(Exception):
    """The problems, by the form's field; "" is the form itself."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields
        super().__init__()


@require_GET
@role_required(Role.VIEWER)
def traces(request: HttpRequest) -> HttpResponse:
    """The form, and the running and kept traces."""
    return _page(request, {**_FIRST, **request.GET.dict()}, {})


@require_GET
@role_required(Role.VIEWER)
def trace_list(request: HttpRequest) -> HttpResponse:
    """The list alone, which refreshes while one of its traces runs.

    While the same trace runs, only its numbers are replaced, so that a button being pressed stays in place.
    """
    context = _list(request)
    if not context["failure"] and context["running"] == request.GET.get("running"):
        response = render(request, "ui/trace_numbers.html", context)
        response["HX-Reswap"] = "none"
        return response
    return render(request, "ui/trace_list.html", context)


@require_GET
@role_required(Role.OPERATOR)
def trace(request: HttpRequest, trace: str) -> HttpResponse:
    """The packets of one trace."""
    result = router_traces.result(actor_of(request), trace)
    context = {
        "trace": result.trace,
        "shown": pager(request, "packets", list(result.packets), _SHOWN, request.path),
        "dropped": sum(one.dropped for one in result.packets),
        "api_calls": (
            *reads(("Packets", f"/traces/{trace}")),
            call("Remove", "DELETE", f"/traces/{trace}"),
        ),
    }
    return show(request, "ui/trace.html", "traces", context)


@require_POST
@role_required(Role.OPERATOR)
def start(request: HttpRequest) -> HttpResponse:
    """Starts a trace; problems are shown at their fields."""
    given = request.POST.dict()
    try:
        state = _start(request, given)
    except _Wrong as error:
        return _page(request, given, error.fields, 422)
    tell(request, f"Packets that arrive on {state.interface} are traced.")
    return redirect("ui:traces")


@require_POST
@role_required(Role.OPERATOR)
def stop(request: HttpRequest, trace: str) -> HttpResponse:
    """Ends a trace, and shows its packets."""
    router_traces.stop(actor_of(request), trace)
    return redirect("ui:trace", trace=trace)


@require_POST
@role_required(Role.OPERATOR)
def remove(request: HttpRequest, trace: str) -> HttpResponse:
    """Removes a trace."""
    state = router_traces.remove(actor_of(request), trace)
    tell(request, f"The trace on {state.interface} is removed.")
    return redirect("ui:traces")


def _start(request: HttpRequest, given: dict[str, str]) -> TraceState:
    """Raises _Wrong."""
    try:
        return router_traces.start(actor_of(request), _wanted(given))
    except ValidationError as error:
        found = (
            (str((entry["loc"] or ("",))[0]), message_of(entry)) for entry in error.errors(include_url=False)
        )
        raise _Wrong(dict(found)) from error
    except ValidationFailed as error:
        raise _Wrong({"": "; ".join(one.message for one in error.problems)}) from error
    except MillraceError as error:
        raise _Wrong({"": str(error)}) from error


def _wanted(given: dict[str, str]) -> TraceWanted:
    """Raises _Wrong for numbers, and pydantic's ValidationError, whose places are the form's fields."""
    wanted: dict[str, Any] = {"interface": given.get("interface", "")}
    wrong: dict[str, str] = {}
    for name, most in _NUMBERS.items():
        text = given.get(name, "").strip()
        if text.isdecimal() and len(text) < 6 and 1 <= int(text) <= most:
            wanted[name] = int(text)
        elif text:
            wrong[name] = f"must be a whole number from 1 to {most}"
    if wrong:
        raise _Wrong(wrong)
    parties = {name: given.get(name, "").strip() for name in ("source", "destination")}
    return TraceWanted.model_validate({**wanted, **{name: text for name, text in parties.items() if text}})


def _list(request: HttpRequest) -> dict[str, Any]:
    found = look(router_traces.kept, ())
    return {
        "traces": found.value,
        "failure": found.failure,
        "running": ",".join(one.id for one in found.value if one.state == "running"),
        "may_operate": actor_of(request).user.has_role(Role.OPERATOR),
    }


def _page(
    request: HttpRequest, given: dict[str, str], wrong: dict[str, str], status: int = 200
) -> HttpResponse:
    candidate, away = look_at_candidate(request)
    interfaces = sorted(candidate.running.get("interfaces", {}))
    hardware = look(lambda: agent().state(HARDWARE), None).value
    example = {"interface": (interfaces or ["wan0"])[0], "packets": 20, "destination": "192.0.2.0/24"}
    context = {
        "away": away,
        "interfaces": interfaces,
        "given": given,
        "wrong": wrong,
        "without_vpp": hardware is not None and hardware.driver != "vpp",
        "most_packets": MOST_PACKETS,
        "most_seconds": MOST_SECONDS,
        "most_kept": MOST_KEPT,
        **_list(request),
        "api_calls": (
            call("Begin", "POST", "/traces", example),
            *reads(("List", "/state/traces"), ("Packets", "/traces/ID")),
            call("Stop", "POST", "/traces/ID/stop"),
            call("Remove", "DELETE", "/traces/ID"),
        ),
    }
    return show(request, "ui/traces.html", "traces", context, status=status)
