"""Routes that BGP accepted, searched by prefix, AS path, community, neighbor and next hop."""

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlencode

from django.urls import reverse

from appliance.config.pointer import join
from appliance.state.bgp_search import BGP_INDEX, BGP_SEARCH, BgpSearch, FoundRoute
from webui.agent import agent
from webui.ui.tables.declaration import Column, Link, Look, Page, Search, SearchField, Table
from webui.ui.tables.row import Row

_NEIGHBORS = "/routing/bgp/neighbors"
_ASNS, _COMMUNITIES = 6, 3
"""The most in one line of a cell."""
_LINES = 4
"""The most in a cell; the rest is counted."""


def _before() -> str:
    """This question starts no work."""
    index = agent().state(BGP_INDEX)
    if index.state == "absent":
        return index.why
    if index.state == "ready":
        held = index.ipv4.paths + index.ipv6.paths
        return (
            f"{held:,} routes of the default VRF can be searched. With no field filled in, all of a family "
            "are listed."
        )
    return (
        "Routes of the default VRF are searched; with no field filled in, all of a family are listed. The "
        "first search reads them from BGP, which takes some seconds for a full table."
    )


def _rows(answer: BgpSearch) -> Iterator[tuple[str, FoundRoute]]:
    return ((route.prefix, route) for route in answer.routes)


def _in_lines(words: Sequence[str], a_line: int) -> list[str]:
    lines = [" ".join(words[at : at + a_line]) for at in range(0, len(words), a_line)]
    if len(lines) <= _LINES:
        return lines
    return [*lines[:_LINES], f"and {len(words) - _LINES * a_line:,} more"]


def _neighbor(row: Row) -> Link | str | list[str]:
    route: FoundRoute = row.state
    if route.is_own:
        read = [] if route.as_of_s is None else [f"read {route.as_of_s / 60:,.0f} min ago"]
        return ["this router", *read]
    known = route.neighbor in row.beside(_NEIGHBORS)
    return Link(route.neighbor, _NEIGHBORS + join([route.neighbor])) if known else route.neighbor


def _path(row: Row) -> Iterable[str]:
    return _in_lines(str(row.live("as_path", "")).split(), _ASNS)


def _communities(row: Row) -> Iterable[str]:
    route: FoundRoute = row.state
    return _in_lines(
        [*route.communities, *route.large_communities, *route.extended_communities], _COMMUNITIES
    )


def _route(row: Row) -> str:
    return reverse("ui:routes") + "?" + urlencode({"prefix": row.name})


PAGE = Page(
    name="bgp_search",
    path="bgp/search",
    title="BGP routes",
    icon="search",
    group="Routing",
    order=21,
    tables=(
        Table(
            name="bgp_search",
            noun="BGP route",
            plural="BGP routes",
            key_title="Prefix",
            mono=True,
            leads_to=_route,
            search=Search(
                BGP_SEARCH,
                (
                    SearchField("prefix", "Prefix or address", "198.51.100.0/24"),
                    SearchField(
                        "match", "Match", choices=("within", "exact", "covering"), unpicked="automatic"
                    ),
                    SearchField("asn", "AS in path", "65010"),
                    SearchField("origin_asn", "Origin AS", "65020"),
                    SearchField("first_asn", "Neighbor AS", "65001"),
                    SearchField("path", "Path has in a row", "65001 65010"),
                    SearchField("path_length", "Path length", "3-5"),
                    SearchField("community", "Community", "65001:100"),
                    SearchField("neighbor", "Neighbor", "192.0.2.1"),
                    SearchField("next_hop", "Next hop", "192.0.2.1"),
                    SearchField("family", "Family", choices=("ipv4", "ipv6"), picked=True),
                ),
                _rows,
                note=lambda answer: "" if answer.state == "absent" else answer.note,
                before=_before,
                absent=lambda answer: answer.note if answer.state == "absent" else "",
                says=lambda answer: answer.says,
                unfinished=lambda answer: answer.state in ("idle", "connecting", "reading"),
            ),
            columns=(
                Column(title="Neighbor", look=Look.MONO, value=_neighbor),
                Column(title="AS path", look=Look.MONO, value=_path),
                Column(title="Communities", look=Look.MONO, value=_communities),
                Column("next_hop", "Next hop", look=Look.MONO, live=True),
                Column("local_preference", "Local pref", look=Look.NUMBER, live=True),
                Column("med", "MED", look=Look.NUMBER, live=True),
                Column("age_s", "Age", look=Look.DURATION, live=True),
            ),
            empty="BGP has accepted no route.",
        ),
    ),
)
