"""The control plane: what may reach the router itself, and what reached it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from appliance.state.control_plane import CONTROL_PLANE, ControlPlaneState
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import reads
from webui.ui.candidate import Candidate
from webui.ui.page import look, look_at_candidate, show
from webui.ui.pager import Pager, pager
from webui.ui.pointers import get

_INTERFACES, _NEIGHBORS = 100, 200
"""The most on one page."""
_TITLES = {
    "bgp": "BGP",
    "ospf": "OSPF",
    "bfd": "BFD",
    "icmp": "ICMP",
    "echo": "Ping",
    "tcp": "Other TCP",
    "udp": "Other UDP",
    "other": "Other",
    "neighbour-discovery": "Neighbor discovery",
}


@dataclass(frozen=True)
class Opening:
    """An interface's own setting for what it admits."""

    interface: str
    ospf: bool
    services: list[str]
    sources: list[str]


@dataclass(frozen=True)
class Counts:
    """A table of packets: a row for each interface, a column for each reason with a count."""

    titles: list[str]
    rows: Pager[tuple[str, list[int | None]]]


def _counts(request: HttpRequest, name: str, packets: Mapping[str, Mapping[str, int]]) -> Counts:
    """The table of packets by interface and reason; the query's `name` selects the interfaces."""
    reasons = list(dict.fromkeys(reason for known in packets.values() for reason in known))
    return Counts(
        [_TITLES.get(reason, reason.capitalize()) for reason in reasons],
        pager(
            request,
            name,
            [(one, [known.get(reason) for reason in reasons]) for one, known in packets.items()],
            _INTERFACES,
            reverse("ui:control_plane"),
        ),
    )


def _live(request: HttpRequest) -> dict[str, Any]:
    live = look(lambda: agent().state(CONTROL_PLANE), ControlPlaneState(interfaces=(), policers=()))
    state: ControlPlaneState = live.value
    return {
        "dropped": _counts(request, "dropped", {row.interface: row.dropped for row in state.interfaces}),
        "accepted": _counts(request, "accepted", {row.interface: row.accepted for row in state.interfaces}),
        "policers": state.policers,
        "failure": live.failure,
    }


def _openings(candidate: Candidate) -> Iterable[Opening]:
    ospf = get(candidate.document, "/routing/ospf/interfaces", {})
    for name, settings in get(candidate.document, "/interfaces", {}).items():
        if settings.get("type") != "loopback":
            yield Opening(
                name,
                name in ospf and not ospf[name].get("passive"),
                list(settings.get("management_services", ())),
                list(settings.get("management_sources", ())),
            )


def _neighbors(candidate: Candidate) -> list[str]:
    neighbors = get(candidate.document, "/routing/bgp/neighbors", {})
    return [address for address, one in neighbors.items() if one.get("enabled", True)]


@require_GET
@role_required(Role.VIEWER)
def control_plane(request: HttpRequest) -> HttpResponse:
    """The services that the document opens, and the packets counted for them."""
    candidate, away = look_at_candidate(request)
    live, neighbors = _live(request), _neighbors(candidate)
    context = {
        **live,
        "openings": pager(request, "openings", list(_openings(candidate)), _INTERFACES),
        "neighbors": neighbors[:_NEIGHBORS],
        "more_neighbors": max(0, len(neighbors) - _NEIGHBORS),
        "away": away or live["failure"],
        "api_calls": reads(("Packets by reason", "/state/control-plane")),
    }
    return show(request, "ui/control_plane.html", "control_plane", context)


@require_GET
@role_required(Role.VIEWER)
def control_plane_counts(request: HttpRequest) -> HttpResponse:
    """The tables of packets, as a fragment."""
    return render(request, "ui/control_plane_counts.html", _live(request))
