"""Ping and traceroute from the router, as jobs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from appliance.config.problem_text import sentence_of
from appliance.errors import ValidationFailed
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.jobs import services
from webui.ui.api_call import call, reads
from webui.ui.page import look_at_candidate, show
from webui.ui.vrfs import chosen_vrf
from webui.ui.whole_number import TOO_MANY, whole

_TITLES = {
    "destination": "Destination",
    "source": "Source",
    "count": "Count",
    "size": "Size",
    "vrf": "VRF",
}
_OVER = {"done", "failed", "cancelled"}


@require_GET
@role_required(Role.VIEWER)
def tools(request: HttpRequest) -> HttpResponse:
    """The forms of the tools."""
    vrf = chosen_vrf(request, look_at_candidate(request)[0])
    return show(
        request,
        "ui/tools.html",
        "tools",
        {
            "vrf": vrf,
            "api_calls": (
                call("Ping", "POST", "/tools/ping", {"destination": "192.0.2.1", "count": 5, **vrf.question}),
                call("Traceroute", "POST", "/tools/traceroute", {"destination": "192.0.2.1", **vrf.question}),
                *reads(("How it goes", "/jobs/ID")),
            ),
        },
    )


@require_POST
@role_required(Role.OPERATOR)
def run(request: HttpRequest, tool: str) -> HttpResponse:
    """Starts a tool; the answer is the job's panel, which refreshes itself."""
    if tool not in ("ping", "traceroute"):
        raise Http404("There is no such tool.")
    given = request.POST
    destination = given.get("destination", "").strip()
    source = given.get("source", "").strip() or None
    vrf = given.get("vrf", "").strip() or None
    actor = actor_of(request)
    try:
        if tool == "ping":
            job = services.start_ping(
                actor,
                destination,
                count=_whole(given.get("count", ""), 5),
                source=source,
                size=_whole(given.get("size", ""), None),
                vrf=vrf,
            )
        else:
            job = services.start_traceroute(actor, destination, source=source, vrf=vrf)
    except ValidationFailed as error:
        return render(request, "ui/job.html", {"problem": sentence_of(error.problems, _TITLES)})
    return render(request, "ui/job.html", _context(job))


@require_GET
@role_required(Role.VIEWER)
def job(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """A job's panel.

    While the job runs, only changed parts are replaced, so that a button being pressed stays in place.
    """
    context = _context(services.get(job_id))
    if not context["over"] and "shown" in request.GET:
        response = render(request, "ui/job_again.html", context)
        response["HX-Reswap"] = "none"
        return response
    return render(request, "ui/job.html", context)


@require_POST
@role_required(Role.OPERATOR)
def cancel(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Stops a job."""
    services.cancel(actor_of(request), services.get(job_id))
    return render(request, "ui/job.html", _context(services.get(job_id)))


def _context(found: Any) -> dict[str, Any]:
    result = found.result if isinstance(found.result, dict) else {}
    facts = [
        (key, value)
        for key, value in result.items()
        if key != "output" and not isinstance(value, (dict, list))
    ]
    return {
        "job": found,
        "over": found.state in _OVER,
        "output": found.log or result.get("output", ""),
        "facts": facts,
        "hops": result.get("hops") if isinstance(result.get("hops"), list) else [],
    }


def _whole(text: str, otherwise: Any) -> Any:
    """The number, or `otherwise` where nothing was typed; any text other than a number is out of every
    range.
    """
    if not text.strip():
        return otherwise
    number = whole(text.strip())
    return TOO_MANY if number is None else number
