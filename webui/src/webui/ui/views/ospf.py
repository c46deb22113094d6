"""OSPF: neighbors, interfaces and areas."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from appliance.state.ospf import OSPF, OspfState
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import reads
from webui.ui.page import look, look_at_candidate, show
from webui.ui.pointers import join
from webui.ui.state import ospf_neighbors as live_neighbors

_INTERFACES = "/routing/ospf/interfaces"
_AREAS = "/routing/ospf/areas"


def _rows(request: HttpRequest) -> dict[str, Any]:
    candidate, away = look_at_candidate(request)
    live = look(lambda: agent().state(OSPF), OspfState())
    answer: OspfState = live.value
    states = answer.interfaces
    areas = candidate.both(_AREAS)
    live_areas = answer.areas
    return {
        "ospf": candidate.document.get("routing", {}).get("ospf"),
        "neighbors": live_neighbors(answer),
        "interfaces": [
            (name, settings, states.get(name), candidate.mark(_INTERFACES + join(name)))
            for name, settings in candidate.both(_INTERFACES).items()
        ],
        "areas": [
            (name, areas.get(name), candidate.mark(_AREAS + join(name)), live_areas.get(name))
            for name in dict.fromkeys([*areas, *live_areas])
        ],
        "mark": candidate.mark("/routing/ospf"),
        "away": away or live.failure,
    }


@require_GET
@role_required(Role.VIEWER)
def ospf(request: HttpRequest) -> HttpResponse:
    """The instance with its neighbors, interfaces and areas."""
    calls = reads(("Configuration", "/config/routing/ospf"), ("State", "/state/ospf"))
    return show(request, "ui/ospf.html", "ospf", {**_rows(request), "api_calls": calls})


@require_GET
@role_required(Role.VIEWER)
def ospf_neighbors(request: HttpRequest) -> HttpResponse:
    """The table of neighbors, as a fragment."""
    return render(request, "ui/ospf_neighbors.html", _rows(request))
