"""One BGP neighbor: its session, its families and the policy on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from appliance.config.vrf_view import pointer_in
from appliance.state.bgp import BGP, BGP_NEIGHBOR, BgpNeighborDetail, BgpNeighborQuery
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import calls_for, reads
from webui.ui.candidate import Candidate
from webui.ui.page import Live, look, look_at_candidate, missing, show
from webui.ui.pages.bgp import CLEAR, EXCHANGE_AGAIN, asn, sessions, status
from webui.ui.pointers import MISSING, get, join
from webui.ui.state import bgp_session
from webui.ui.tables.declaration import Table
from webui.ui.tables.detail import panels_of, row_at, users_of
from webui.ui.tables.listing import buttons_of
from webui.ui.templatetags.ui import duration
from webui.ui.vrfs import Holds, chosen_vrf

_BUTTONS = Table("bgp_neighbor", "BGP neighbor", "Neighbors", (), actions=(CLEAR, *EXCHANGE_AGAIN))


@require_GET
@role_required(Role.VIEWER)
def bgp_neighbor(request: HttpRequest, address: str) -> HttpResponse:
    """One neighbor."""
    candidate, away = look_at_candidate(request)
    vrf = chosen_vrf(request, candidate, has_neighbor(candidate, address))
    pointer = neighbor_in(vrf.name, address)
    live = look(lambda: sessions(agent().state(BGP, BGP.asked(vrf.question))), {}) if vrf.runs else Live({})
    row = row_at(candidate, pointer, live.value.get(address))
    if row is None:
        raise missing(candidate, f"There is no BGP neighbor {address}.")
    told = look(
        lambda: agent().state(BGP_NEIGHBOR, BgpNeighborQuery(address=address, vrf=vrf.name or None)), None
    )
    detail: BgpNeighborDetail | None = told.value
    return show(
        request,
        "ui/bgp_neighbor.html",
        "bgp",
        {
            "row": row,
            "vrf": vrf,
            "peer_groups": pointer_in(vrf.name, "/routing/bgp/peer_groups/"),
            "session": row.state,
            "buttons": tuple(buttons_of(_BUTTONS, row, vrf=vrf.name)),
            "status": status(row),
            "remote_asn": asn(row),
            "description": row.said("description") or row.live("description", ""),
            "policies": _policies(row.settings),
            "facts": _facts(detail.model_dump()) if detail else [],
            "session_unread": "" if told.answered else told.failure,
            "families": bgp_session(address, detail).families if detail else row.live("families", ()),
            "panels": panels_of(row),
            "users": users_of(row),
            "away": away or live.failure,
            "api_calls": calls_for(pointer, row.settings)
            + reads(("Session", f"/state/bgp/neighbors/{address}{vrf.end}")),
        },
    )


def neighbor_in(vrf: str, address: str) -> str:
    """Pointer of the neighbor in a VRF."""
    return pointer_in(vrf, "/routing/bgp/neighbors") + join(address)


def has_neighbor(candidate: Candidate, address: str) -> Holds:
    """Whether a VRF has the neighbor, running or in the change set."""
    documents = (candidate.running, candidate.document)
    return lambda vrf: any(get(one, neighbor_in(vrf, address)) is not MISSING for one in documents)


_FACTS = (
    ("Remote router ID", "router_id"),
    ("Local AS", "local_asn"),
    ("Peer group", "peer_group"),
    ("Messages received", "messages_received"),
    ("Messages sent", "messages_sent"),
    ("Last reset", "last_reset"),
)
_DURATIONS = (("Hold time", "hold_s"), ("Keepalive", "keepalive_s"))


def _facts(state: dict[str, Any]) -> list[tuple[str, str]]:
    """The notable facts about a session, in words."""
    found = [(title, str(state[name])) for title, name in _FACTS if state.get(name) not in (None, "")]
    return found + [
        (title, duration(state[name])) for title, name in _DURATIONS if state.get(name) is not None
    ]


_POLICY_FIELDS = {
    "route_map_in": ("route map in", "route_maps"),
    "route_map_out": ("route map out", "route_maps"),
    "prefix_list_in": ("prefix list in", "prefix_lists"),
    "prefix_list_out": ("prefix list out", "prefix_lists"),
}


def _policies(settings: Mapping[str, Any]) -> list[dict[str, str]]:
    found = []
    for family in ("ipv4_unicast", "ipv6_unicast"):
        for field, (title, mapping) in _POLICY_FIELDS.items():
            name = (settings.get(family) or {}).get(field)
            if name:
                found.append(
                    {
                        "family": family.replace("_", " ").replace("ipv", "IPv"),
                        "title": title,
                        "name": name,
                        "pointer": f"/routing/policy/{mapping}" + join(name),
                    }
                )
    return found
