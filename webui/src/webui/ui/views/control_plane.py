"""The control plane: what may reach the router itself, and what reached it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from appliance.state.control_plane import CONTROL_PLANE, ControlPlaneState, RouterService
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import reads
from webui.ui.candidate import Candidate
from webui.ui.page import look, look_at_candidate, show
from webui.ui.pager import Pager, pager
from webui.ui.pointers import get

_INTERFACES = 100
"""On one page."""
_TITLES = {
    "icmp": "ICMP",
    "echo": "Ping",
    "tcp": "Other TCP",
    "udp": "Other UDP",
    "other": "Other",
    "neighbour-discovery": "Neighbor discovery",
}
"""Of reasons that are no service of a feature."""


@dataclass(frozen=True)
class Opening:
    """What an interface lets in from everybody, and of management."""

    interface: str
    has_page: bool
    """It is the document's, and no VRF's device."""
    open: list[bool]
    """By service of links."""
    services: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Counts:
    """A table of packets: a row for each interface, a column for each reason with a count."""

    titles: list[str]
    rows: Pager[tuple[str, list[int | None]]]


def _counts(
    request: HttpRequest, name: str, packets: Mapping[str, Mapping[str, int]], titles: Mapping[str, str]
) -> Counts:
    """Of packets by interface and reason; the query's `name` chooses the interfaces."""
    reasons = list(dict.fromkeys(reason for known in packets.values() for reason in known))
    return Counts(
        [titles.get(reason, reason.capitalize()) for reason in reasons],
        pager(
            request,
            name,
            [(one, [known.get(reason) for reason in reasons]) for one, known in packets.items()],
            _INTERFACES,
            reverse("ui:control_plane"),
        ),
    )


def _state() -> tuple[ControlPlaneState, str]:
    """With why it is not known, if so."""
    live = look(lambda: agent().state(CONTROL_PLANE), ControlPlaneState(interfaces=(), policers=()))
    return live.value, live.failure


def _packets(request: HttpRequest, state: ControlPlaneState, failure: str) -> dict[str, Any]:
    titles = {**_TITLES, **{service.reason: service.title for service in state.services}}
    dropped = {row.interface: row.dropped for row in state.interfaces}
    accepted = {row.interface: row.accepted for row in state.interfaces}
    return {
        "dropped": _counts(request, "dropped", dropped, titles),
        "accepted": _counts(request, "accepted", accepted, titles),
        "policers": state.policers,
        "unread": failure,
    }


def _openings(state: ControlPlaneState, of_links: list[RouterService], candidate: Candidate) -> list[Opening]:
    interfaces = get(candidate.document, "/interfaces", {})
    return [
        Opening(
            row.interface,
            row.interface in interfaces,
            [service.reason in row.open_services for service in of_links],
            row.management_services,
            row.management_sources,
        )
        for row in state.interfaces
    ]


@require_GET
@role_required(Role.VIEWER)
def control_plane(request: HttpRequest) -> HttpResponse:
    """What is open, and the packets counted for it."""
    candidate, away = look_at_candidate(request)
    state, failure = _state()
    of_links = [service for service in state.services if service.by_interface]
    context = {
        **_packets(request, state, failure),
        "services": [service for service in state.services if service.by_source],
        "of_links": of_links,
        "openings": pager(request, "openings", _openings(state, of_links, candidate), _INTERFACES),
        "away": away or failure,
        "api_calls": reads(("What is open, and packets by reason", "/state/control-plane")),
    }
    return show(request, "ui/control_plane.html", "control_plane", context)


@require_GET
@role_required(Role.VIEWER)
def control_plane_counts(request: HttpRequest) -> HttpResponse:
    """The tables of packets, as a fragment."""
    return render(request, "ui/control_plane_counts.html", _packets(request, *_state()))
