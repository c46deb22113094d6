"""Routes in RIB, kernel and FIB side by side: of a prefix or an address, or a list that is short enough."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from appliance.config.problem_text import told_by_field
from appliance.state.routes import ROUTES, RibHop, Routes, RoutesQuery, RouteState, TableHop
from webui import router_state
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import ApiCall, reads
from webui.ui.page import Live, look, look_at_candidate, show
from webui.ui.pager import last_offset
from webui.ui.vrfs import ChosenVrf, chosen_vrf
from webui.ui.whole_number import whole

_PER_PAGE = 100
_HOPS_SHOWN = 4
_UNITS_S = {"w": 604_800, "d": 86_400, "h": 3600, "m": 60}
NOTHING = Routes(routes=(), total=0, list_limit=0, offset=0, limit=_PER_PAGE)
"""Shown while the router cannot be asked."""
_TITLES = {
    "prefix": "Prefix or address",
    "next_hop": "Next hop",
    "protocol": "Protocol",
    "family": "Family",
    "offset": "Place in the list",
}
PROTOCOLS = ("connected", "static", "ospf", "bgp", "kernel", "local")


@dataclass(frozen=True)
class Cell:
    """One table's entry for a prefix."""

    hops: list[str]
    """Empty: the prefix is not there, or the table did not answer."""
    untold: str = ""
    """Why the table did not answer."""

    @property
    def more(self) -> int:
        """The number of further next hops."""
        return max(0, len(self.hops) - _HOPS_SHOWN)

    @property
    def shown(self) -> list[str]:
        """The first next hops."""
        return self.hops[:_HOPS_SHOWN]


@dataclass(frozen=True)
class ProtocolCount:
    """The number of routes of a protocol."""

    protocol: str
    count: int
    query: str
    """Address of the page that lists them; empty where they are too many."""


@dataclass(frozen=True)
class FamilyCount:
    """The number of routes of a family."""

    family: str
    total: int
    protocols: list[ProtocolCount]


@dataclass(frozen=True)
class RouteRow:
    """A prefix in each of the three tables."""

    prefix: str
    protocol: str
    distance: Any
    metric: Any
    cells: list[Cell]
    """RIB, kernel and FIB."""
    disagrees: str
    age_s: int | None = None


def hops(paths: Iterable[RibHop | TableHop] | None) -> list[str]:
    """Next hops of a table's entry, each as ``address interface``, or its kind where it has neither."""
    found = []
    for path in paths or ():
        kind = path.kind if isinstance(path, TableHop) else "blackhole" if path.blackhole else None
        found.append(" ".join(filter(None, (path.address, path.interface))) or kind)
    return sorted(dict.fromkeys(one for one in found if one))


def row_of(route: RouteState) -> RouteRow:
    """A row from the agent's answer."""
    return RouteRow(
        prefix=route.prefix,
        protocol=route.protocol,
        distance=route.distance,
        metric=route.metric,
        cells=[
            Cell(hops(route.rib)),
            Cell(hops(route.kernel), route.untold.get("kernel", "")),
            Cell(hops(route.fib), route.untold.get("fib", "")),
        ],
        disagrees=route.disagreement,
        age_s=_seconds(route.uptime),
    )


def _seconds(uptime: str | float | None) -> int | None:
    """FRR says ``00:04:09``, ``1d02h03m`` or ``01w2d03h``, the feeder a number."""
    if uptime is None or isinstance(uptime, (int, float)):
        return None if uptime is None else int(uptime)
    if re.fullmatch(r"\d+:\d\d:\d\d", uptime):
        hours, minutes, seconds = map(int, uptime.split(":"))
        return hours * 3600 + minutes * 60 + seconds
    return sum(int(count) * _UNITS_S[unit] for count, unit in re.findall(r"(\d+)([wdhm])", uptime)) or None


def _query(request: HttpRequest, vrf: ChosenVrf) -> dict[str, Any]:
    given = request.GET
    query: dict[str, Any] = {
        "prefix": given.get("prefix", "").strip() or None,
        "within": given.get("match") == "within" and bool(given.get("prefix", "").strip()),
        "covering": given.get("match") == "covering" and bool(given.get("prefix", "").strip()),
        "next_hop": given.get("next_hop", "").strip() or None,
        "protocol": given.get("protocol") or None,
        "family": given.get("family") or None,
        "offset": whole(given.get("offset", "")) or 0,
        "limit": _PER_PAGE,
        **vrf.question,
    }
    return {name: value for name, value in query.items() if value not in (None, False)}


def _table(request: HttpRequest, vrf: ChosenVrf) -> dict[str, Any]:
    live = _look(_query(request, vrf), vrf)
    if not live.value.routes and live.value.total:
        live = _look({**_query(request, vrf), "offset": last_offset(live.value.total, _PER_PAGE)}, vrf)
    answer: Routes = live.value
    found, total, offset = answer.routes, answer.total, answer.offset
    return {
        "rows": [row_of(route) for route in found],
        "pager": {
            "first": offset + 1,
            "last": offset + len(found),
            "total": total,
            "previous": _link(request, max(0, offset - _PER_PAGE)) if offset else "",
            "following": _link(request, offset + _PER_PAGE) if offset + len(found) < total else "",
            "jump": _kept(request),
        },
        "failure": live.failure,
        "away": "" if live.answered else live.failure,
        "note": answer.note,
        "age_s": answer.age_s,
        "families": _counts(answer, vrf) if answer.note else [],
        "longer": _longer(request),
    }


def _look(query: dict[str, Any], vrf: ChosenVrf) -> Live:
    if not vrf.runs:
        return Live(NOTHING, f"VRF {vrf.name} is not committed yet: it has no routes.", answered=True)
    return look(lambda: agent().state(ROUTES, _asked(query)), NOTHING, _TITLES)


def _asked(query: dict[str, Any]) -> RoutesQuery:
    """Raises ValidationFailed."""
    with told_by_field():
        return RoutesQuery.model_validate(query)


def _counts(answer: Routes, vrf: ChosenVrf) -> list[FamilyCount]:
    """The numbers of a table too long for a list, each with a link where the protocol's routes are few
    enough.
    """
    limit = answer.list_limit
    return [
        FamilyCount(
            "IPv6" if family == "ipv6" else "IPv4",
            sum(count.rib for count in protocols.values()),
            [
                ProtocolCount(
                    name,
                    count.rib,
                    urlencode({"protocol": name, "family": family, **vrf.question})
                    if count.rib <= limit
                    else "",
                )
                for name, count in protocols.items()
            ],
        )
        for family, protocols in answer.counts.items()
        if protocols
    ]


def _longer(request: HttpRequest) -> str:
    """After a question for an exact prefix: the page that lists the longer prefixes in it."""
    if "/" not in request.GET.get("prefix", "") or request.GET.get("match") == "within":
        return ""
    query = request.GET.copy()
    query["match"] = "within"
    query.pop("offset", None)
    return "?" + query.urlencode()


def _kept(request: HttpRequest) -> list[tuple[str, str]]:
    """The search, as fields of a form that asks for another place in its list."""
    return [(name, str(value)) for name, value in request.GET.items() if name != "offset" and value]


def _link(request: HttpRequest, offset: int) -> str:
    query = request.GET.copy()
    query["offset"] = str(offset)
    return "?" + query.urlencode()


@require_GET
@role_required(Role.VIEWER)
def routes(request: HttpRequest) -> HttpResponse:
    """Search by address, prefix, protocol and family; a hundred a page."""
    vrf = chosen_vrf(request, look_at_candidate(request)[0])
    context = {
        **_table(request, vrf),
        "fib_name": _fib_name(),
        "q": request.GET,
        "vrf": vrf,
        "searched": any(value for name, value in request.GET.items() if name != "vrf"),
        "protocols": PROTOCOLS,
        "api_calls": _api_calls(vrf),
    }
    if request.headers.get("HX-Request"):
        if _shown_vrf(request) == vrf.name:
            del context["api_calls"]
        return render(request, "ui/routes_again.html", context)
    return show(request, "ui/routes.html", "routes", context)


def _shown_vrf(request: HttpRequest) -> str:
    """The VRF that the page with the search currently shows."""
    shown = parse_qs(urlsplit(request.headers.get("HX-Current-URL", "")).query)
    return shown.get("vrf", [""])[0]


def _api_calls(vrf: ChosenVrf) -> tuple[ApiCall, ...]:
    questions = (
        ("A page of the table", "limit=100"),
        ("Which route a packet to this address takes", "prefix=203.0.113.10"),
        ("A prefix and longer ones inside it", "prefix=10.0.0.0/8&within=true"),
        ("Every route that covers an address", "prefix=203.0.113.10&covering=true"),
        ("Routes that lead to a next hop", "next_hop=192.0.2.1&limit=100"),
    )
    return reads(*((title, f"/state/routes?{question}{vrf.also}") for title, question in questions))


def _fib_name() -> str:
    return "VPP FIB" if (router_state.status() or {}).get("dataplane") == "vpp" else "FIB"
