"""Interfaces: the table, and one interface with its counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from appliance.state.interfaces import INTERFACES, InterfaceState
from appliance.state.neighbors import NEIGHBORS, NeighborState
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import calls_for, reads
from webui.ui.candidate import Candidate
from webui.ui.page import look, look_at_candidate, show
from webui.ui.pointers import MISSING, get, join
from webui.ui.templatetags.ui import scaled

_NEIGHBORS = 200
"""Neighbors shown of one link."""


@dataclass(frozen=True)
class InterfaceRow:
    """One interface: what is configured, what is live, and what the change set does to it."""

    name: str
    settings: dict[str, Any]
    state: InterfaceState | None
    """None: the router does not have it, or does not say."""
    mark: str

    @property
    def kind(self) -> str:
        """Kind in words."""
        known = self.state.type if self.state is not None else "unmanaged"
        return str(self.settings.get("type", known)).replace("_", "-")

    @property
    def status(self) -> str:
        """``up``, ``down`` or ``disabled``; empty when the router does not say."""
        if not self.settings.get("enabled", True):
            return "disabled"
        return self.state.link.lower() if self.state is not None else ""

    @property
    def addresses(self) -> list[str]:
        """Configured addresses, else the live ones."""
        return list(self.settings.get("addresses") or (self.state.addresses if self.state else ()))


def rows_of(candidate: Candidate, states: dict[str, InterfaceState]) -> list[InterfaceRow]:
    """All interfaces of the candidate and of the router, in the document's order."""
    configured = candidate.both("/interfaces")
    names = [*configured, *(name for name in states if name not in configured)]
    return [
        InterfaceRow(
            name, configured.get(name, {}), states.get(name), candidate.mark("/interfaces" + join(name))
        )
        for name in names
    ]


@require_GET
@role_required(Role.VIEWER)
def interfaces(request: HttpRequest) -> HttpResponse:
    """Every interface with its state and live rates."""
    candidate, away = look_at_candidate(request)
    live = look(lambda: agent().state(INTERFACES).by_name, {})
    return show(
        request,
        "ui/interfaces.html",
        "interfaces",
        {
            "rows": rows_of(candidate, live.value),
            "away": away or live.failure,
            "kinds": {"ethernet": "Ethernet", "sub_interface": "Sub-interface", "loopback": "Loopback"},
            "api_calls": reads(("Configuration", "/config/interfaces"), ("State", "/state/interfaces")),
        },
    )


@require_GET
@role_required(Role.VIEWER)
def interface(request: HttpRequest, name: str) -> HttpResponse:
    """One interface."""
    pointer = "/interfaces" + join(name)
    candidate, away = look_at_candidate(request)
    live = look(lambda: agent().state(INTERFACES).by_name, {})
    settings = get(candidate.document, pointer)
    if settings is MISSING:
        settings = get(candidate.running, pointer)
    if settings is MISSING and name not in live.value and not (away or live.failed):
        raise Http404(f"There is no interface {name}.")
    configured: dict[str, Any] = settings if isinstance(settings, dict) else {}
    row = InterfaceRow(name, configured, live.value.get(name), candidate.mark(pointer))
    neighbors = look(lambda: agent().state(NEIGHBORS).neighbors, ())
    return show(
        request,
        "ui/interface.html",
        "interfaces",
        {
            "row": row,
            "pointer": pointer,
            "configured": settings is not MISSING,
            "settings": _settings_lines(configured),
            "hardware": _hardware(row.state),
            "neighbors": _neighbors_on(neighbors.value, name),
            "away": away or live.failure,
            "api_calls": calls_for(pointer, configured or None),
        },
    )


def _settings_lines(settings: dict[str, Any]) -> list[tuple[str, str]]:
    lines = []
    for key, value in settings.items():
        if isinstance(value, dict):
            text = ", ".join(f"{below} {inner}" for below, inner in value.items())
        elif isinstance(value, (list, tuple)):
            text = ", ".join(str(inner) for inner in value)
        else:
            text = "yes" if value is True else "no" if value is False else str(value)
        lines.append((key.replace("_", " "), text))
    return lines


_HARDWARE = ("device", "driver", "note", "mac", "mtu", "parent", "vlan_id")


def _hardware(state: InterfaceState | None) -> list[tuple[str, str]]:
    if state is None:
        return []
    known = state.model_dump(include=set(_HARDWARE), exclude_none=True)
    lines = [(key.replace("_", " "), str(known[key])) for key in _HARDWARE if key in known]
    if state.speed_bps:
        lines.append(("speed", scaled(state.speed_bps, "b/s")))
    return lines


def _neighbors_on(known: tuple[NeighborState, ...], name: str) -> list[NeighborState]:
    return [one for one in known if one.interface == name][:_NEIGHBORS]
