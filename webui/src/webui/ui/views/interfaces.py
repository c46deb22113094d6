"""One interface with its counters."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from appliance.state.counter_selection import CLEARED, Selection
from appliance.state.interfaces import INTERFACES
from appliance.state.neighbors import NEIGHBORS, NeighborState
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import call, calls_for, reads
from webui.ui.page import look, look_at_candidate, show
from webui.ui.pages.interfaces import CLEAR, kind, status
from webui.ui.pointers import join
from webui.ui.tables.declaration import Table
from webui.ui.tables.detail import facts_of, panels_of, row_at, users_of
from webui.ui.tables.listing import buttons_of
from webui.ui.tables.row import Row
from webui.ui.templatetags.ui import scaled

_BUTTONS = Table("interface", "interface", "Interfaces", (), actions=(CLEAR,))
_NEIGHBORS = 200
"""The most neighbors shown of one link."""


@require_GET
@role_required(Role.VIEWER)
def interface(request: HttpRequest, name: str) -> HttpResponse:
    """One interface."""
    pointer = "/interfaces" + join(name)
    candidate, away = look_at_candidate(request)
    live = look(lambda: agent().state(INTERFACES).by_name, {})
    row = row_at(candidate, pointer, live.value.get(name))
    if row is None and not (away or live.failed):
        raise Http404(f"There is no interface {name}.")
    row = row or Row(name, pointer, {}, None, candidate, configured=False)
    cleared = look(lambda: agent().counters(Selection(frozenset((CLEARED,)), frozenset((name,)))), {})
    neighbors = look(lambda: agent().state(NEIGHBORS).neighbors, ())
    return show(
        request,
        "ui/interface.html",
        "interfaces",
        {
            "row": row,
            "status": status(row),
            "kind": kind(row),
            "facts": facts_of(row),
            "buttons": tuple(buttons_of(_BUTTONS, row)),
            "cleared_unread": cleared.failed,
            "cleared": (cleared.value.get(CLEARED) or {}).get(name),
            "hardware": _hardware(row),
            "neighbors": _neighbors_on(neighbors.value, name),
            "neighbors_unread": neighbors.failure,
            "live_unread": live.failure,
            "panels": panels_of(row),
            "users": users_of(row),
            "away": away or live.failure,
            "api_calls": (
                *calls_for(pointer, row.settings or None),
                *reads(("Counters since they were cleared", "/state/counters")),
                call("Clear the counters", "POST", "/actions/clear-counters", {"interface": name}),
            ),
        },
    )


_HARDWARE = {
    "device": "Device",
    "driver": "Driver",
    "note": "Note",
    "mac": "MAC address",
    "mtu": "MTU",
    "parent": "Parent",
    "vlan_id": "VLAN ID",
}


def _hardware(row: Row) -> list[tuple[str, str]]:
    lines = [(title, str(row.live(key))) for key, title in _HARDWARE.items() if row.live(key) is not None]
    if row.live("speed_bps"):
        lines.append(("Speed", scaled(row.live("speed_bps"), "b/s")))
    return lines


def _neighbors_on(known: tuple[NeighborState, ...], name: str) -> list[NeighborState]:
    return [one for one in known if one.interface == name][:_NEIGHBORS]
