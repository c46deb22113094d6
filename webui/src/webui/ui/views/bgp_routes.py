"""Routes received from and advertised to one BGP neighbor, each with the policy's verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from appliance.config.pointer import join
from appliance.config.problem_text import told_by_field
from appliance.state.bgp_routes import BGP_ROUTES, BgpRoute, BgpRoutes, BgpRoutesQuery
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import reads
from webui.ui.page import look, look_at_candidate, missing, show
from webui.ui.pager import last_offset
from webui.ui.tables.detail import row_at
from webui.ui.views.bgp import has_neighbor, neighbor_in
from webui.ui.vrfs import ChosenVrf, chosen_vrf

TITLES = {"received": "Received routes", "advertised": "Advertised routes"}
_PER_PAGE = 50
_TONES = {"permit": "ok", "deny": "bad", "unknown": "quiet"}
_WORDS = {"permit": "permits", "deny": "refuses", "unknown": "not known"}
_TITLES = {
    "prefix": "Prefix or address",
    "family": "Family",
    "community": "Community",
    "asn": "AS in path",
    "offset": "Place in the list",
}
_FIELDS = ("prefix", "match", "family", "community", "asn", "offset")


@dataclass(frozen=True)
class RouteRow:
    """A route as a row shows it."""

    route: BgpRoute

    @property
    def tone(self) -> str:
        """The tone of FRR's treatment of it."""
        return "ok" if self.route.status in ("accepted", "advertised") else "bad"

    @property
    def says(self) -> str:
        """The policy's verdict, in a word."""
        return _WORDS[self.route.policy.verdict]

    @property
    def says_tone(self) -> str:
        """The tone of the policy's verdict."""
        return _TONES[self.route.policy.verdict]

    @property
    def communities(self) -> tuple[str, ...] | None:
        """Communities of all kinds; None where FRR does not tell."""
        route = self.route
        if route.communities is None:
            return None
        return (*route.communities, *(route.large_communities or ()), *(route.extended_communities or ()))


@require_GET
@role_required(Role.VIEWER)
def bgp_routes(request: HttpRequest, direction: str, address: str) -> HttpResponse:
    """One page of routes, or the results of a search."""
    if direction not in TITLES:
        raise Http404
    candidate, away = look_at_candidate(request)
    vrf = chosen_vrf(request, candidate, has_neighbor(candidate, address))
    row = row_at(candidate, neighbor_in(vrf.name, address), None)
    if row is None:
        raise missing(candidate, f"There is no BGP neighbor {address}.")
    given = {name: request.GET.get(name, "").strip() for name in _FIELDS}
    live = look(lambda: agent().state(BGP_ROUTES, _asked(address, direction, vrf, given)), None, _TITLES)
    answer: BgpRoutes | None = live.value
    if answer is not None and not answer.routes and answer.total:
        given["offset"] = str(last_offset(answer.total, _PER_PAGE))
        live = look(lambda: agent().state(BGP_ROUTES, _asked(address, direction, vrf, given)), None, _TITLES)
        answer = live.value
    return show(
        request,
        "ui/bgp_routes.html",
        "bgp",
        {
            "row": row,
            "vrf": vrf,
            "tab": direction,
            "title": TITLES[direction],
            "q": given,
            "searched": any(given.values()),
            "failure": live.failure,
            "away": away,
            "answer": answer,
            "policies": _policies(answer),
            "rows": [RouteRow(route) for route in answer.routes] if answer else [],
            "pager": _pager({**vrf.question, **given}, answer),
            "api_calls": reads((TITLES[direction], f"/state/bgp/neighbors/{address}/{direction}{vrf.end}")),
        },
    )


def _asked(address: str, direction: str, vrf: ChosenVrf, given: dict[str, str]) -> BgpRoutesQuery:
    """Raises ValidationFailed."""
    query: dict[str, Any] = {
        "address": address,
        "direction": direction,
        "limit": _PER_PAGE,
        **vrf.question,
        **{name: given[name] for name in ("prefix", "community", "asn", "offset") if given[name]},
        # The form always has a family: that of a list.
        **({"family": given["family"]} if given["family"] and not given["prefix"] else {}),
        "longest": given["match"] == "longest" and bool(given["prefix"]),
        "within": given["match"] == "within" and bool(given["prefix"]),
    }
    with told_by_field():
        return BgpRoutesQuery.model_validate(query)


def _policies(answer: BgpRoutes | None) -> list[tuple[str, str, str]]:
    """Title, name and pointer of the deciding policy."""
    if answer is None:
        return []
    named = (
        ("prefix list", answer.prefix_list, "prefix_lists"),
        ("route map", answer.route_map, "route_maps"),
    )
    return [
        (title, name, f"/routing/policy/{mapping}" + join([name])) for title, name, mapping in named if name
    ]


def _pager(given: dict[str, str], answer: BgpRoutes | None) -> dict[str, Any] | None:
    if answer is None or not answer.routes:
        return None
    last = answer.offset + len(answer.routes)
    return {
        "first": answer.offset + 1,
        "last": last,
        "total": answer.total,
        "previous": _link(given, max(0, answer.offset - answer.limit)) if answer.offset else "",
        "following": _link(given, last) if last < answer.total else "",
    }


def _link(given: dict[str, str], offset: int) -> str:
    kept = {name: value for name, value in {**given, "offset": str(offset or "")}.items() if value}
    return "?" + urlencode(kept)
