"""BGP: sessions, one neighbor, and what of it can be edited."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from appliance.state.bgp import BGP, BGP_NEIGHBOR, BgpNeighborDetail, BgpNeighborQuery, BgpState
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import calls_for, reads
from webui.ui.page import look, look_at_candidate, show
from webui.ui.pointers import MISSING, get, join
from webui.ui.state import FamilyState, SessionState, bgp_session
from webui.ui.state import bgp_sessions as live_sessions
from webui.ui.templatetags.ui import duration

_NEIGHBORS = "/routing/bgp/neighbors"


@dataclass(frozen=True)
class Session:
    """A neighbor: its settings and its live session."""

    address: str
    settings: dict[str, Any]
    live: SessionState | None
    remote_asn: Any
    mark: str = ""

    @property
    def status(self) -> str:
        """The session's state; ``disabled`` when it is shut on purpose."""
        if not self.settings.get("enabled", True):
            return "disabled"
        return self.live.state.lower() if self.live else ""

    @property
    def description(self) -> str:
        """As configured, else as the router says."""
        return str(self.settings.get("description") or (self.live.description if self.live else ""))

    @property
    def families(self) -> tuple[FamilyState, ...]:
        """Prefix counts by address family."""
        return self.live.families if self.live else ()

    @property
    def received(self) -> int | None:
        """Prefixes received."""
        return _total(family.received for family in self.families)

    @property
    def advertised(self) -> int | None:
        """Prefixes sent."""
        return _total(family.sent for family in self.families)

    @property
    def uptime_s(self) -> float | None:
        """Seconds the session is in its state."""
        return self.live.uptime_s if self.live else None


def _total(counts: Iterable[Any]) -> int | None:
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known else None


def sessions_of(answer: BgpState, document: dict[str, Any], marks: Any = None) -> list[Session]:
    """Sessions of the configured and of the live neighbors."""
    configured = get(document, _NEIGHBORS, {})
    live = live_sessions(answer)
    addresses = [*configured, *(address for address in live if address not in configured)]
    groups = get(document, "/routing/bgp/peer_groups", {})
    sessions = []
    for address in addresses:
        settings = configured.get(address, {})
        group = groups.get(settings.get("peer_group"), {})
        state = live.get(address)
        asn = (state.remote_asn if state else None) or settings.get("remote_asn") or group.get("remote_asn")
        mark = marks(_NEIGHBORS + join(address)) if marks else ""
        sessions.append(Session(address, settings, state, asn, mark))
    return sessions


def _rows(request: HttpRequest) -> dict[str, Any]:
    candidate, away = look_at_candidate(request)
    live = look(lambda: agent().state(BGP), BgpState())
    shown = {**candidate.document}
    shown["routing"] = {**candidate.document.get("routing", {})}
    bgp = candidate.document.get("routing", {}).get("bgp")
    if bgp is not None:
        shown["routing"]["bgp"] = {**bgp, "neighbors": candidate.both(_NEIGHBORS)}
    return {
        "bgp": bgp,
        "instance": live.value,
        "sessions": sessions_of(live.value, shown, candidate.mark),
        "peer_groups": [
            (name, settings, candidate.mark("/routing/bgp/peer_groups" + join(name)))
            for name, settings in candidate.both("/routing/bgp/peer_groups").items()
        ],
        "mark": candidate.mark("/routing/bgp"),
        "away": away or live.failure,
    }


@require_GET
@role_required(Role.VIEWER)
def bgp(request: HttpRequest) -> HttpResponse:
    """The instance, its sessions and peer groups."""
    calls = reads(("Configuration", "/config/routing/bgp"), ("Sessions", "/state/bgp"))
    return show(request, "ui/bgp.html", "bgp", {**_rows(request), "api_calls": calls})


@require_GET
@role_required(Role.VIEWER)
def bgp_sessions(request: HttpRequest) -> HttpResponse:
    """The table of sessions, as a fragment."""
    return render(request, "ui/bgp_sessions.html", _rows(request))


@require_GET
@role_required(Role.VIEWER)
def bgp_neighbor(request: HttpRequest, address: str) -> HttpResponse:
    """One neighbor."""
    rows = _rows(request)
    session = next((one for one in rows["sessions"] if one.address == address), None)
    if session is None:
        raise Http404(f"There is no BGP neighbor {address}.")
    detail = look(lambda: agent().state(BGP_NEIGHBOR, BgpNeighborQuery(address=address)), None)
    pointer = _NEIGHBORS + join(address)
    candidate, _ = look_at_candidate(request)
    state: BgpNeighborDetail | None = detail.value
    return show(
        request,
        "ui/bgp_neighbor.html",
        "bgp",
        {
            "session": session,
            "pointer": pointer,
            "configured": get(candidate.document, pointer) is not MISSING,
            "policies": _policies(session.settings),
            "facts": _facts(state.model_dump()) if state else [],
            "families": bgp_session(address, state).families if state else session.families,
            "away": rows["away"],
            "api_calls": calls_for(pointer, session.settings)
            + reads(("Session", f"/state/bgp/neighbors/{address}")),
        },
    )


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
    """What is worth knowing of a session, in words."""
    found = [(title, str(state[name])) for title, name in _FACTS if state.get(name) not in (None, "")]
    return found + [
        (title, duration(state[name])) for title, name in _DURATIONS if state.get(name) is not None
    ]


_POLICY_FIELDS = {
    "route_map_in": ("route map in", "ui:route_map"),
    "route_map_out": ("route map out", "ui:route_map"),
    "prefix_list_in": ("prefix list in", ""),
    "prefix_list_out": ("prefix list out", ""),
}


def _policies(settings: dict[str, Any]) -> list[dict[str, str]]:
    found = []
    for family in ("ipv4_unicast", "ipv6_unicast"):
        for field, (title, url_name) in _POLICY_FIELDS.items():
            name = (settings.get(family) or {}).get(field)
            if name:
                found.append(
                    {"family": family.replace("_", " "), "title": title, "name": name, "url_name": url_name}
                )
    return found
