"""``show bgp routes``: routes that BGP accepted, searched by their attributes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.cli.questions import asked, fields
from appliance.client import AgentClient
from appliance.state.bgp_search import BGP_SEARCH, BgpSearch, BgpSearchQuery, FoundRoute

_USAGE = (
    "show bgp routes [PREFIX|ADDRESS [longer|exact|covering]] [ipv4|ipv6] [as NUMBER] [origin-as NUMBER] "
    "[neighbor-as NUMBER] [path NUMBER_NUMBER] [path-length NUMBER[-NUMBER]] [community VALUE] "
    "[neighbor ADDRESS|self] [next-hop ADDRESS] [limit NUMBER] [offset NUMBER]"
)
_SWITCHES: dict[str, dict[str, Any]] = {
    "ipv4": {"family": "ipv4"},
    "ipv6": {"family": "ipv6"},
    "longer": {"match": "within"},
    "exact": {"match": "exact"},
    "covering": {"match": "covering"},
}
_VALUED = {
    "as": "asn",
    "origin-as": "origin_asn",
    "neighbor-as": "first_asn",
    "path": "path",
    "path-length": "path_length",
    "community": "community",
    "neighbor": "neighbor",
    "next-hop": "next_hop",
    "limit": "limit",
    "offset": "offset",
}
_COLUMNS = (
    "prefix",
    "neighbor",
    "as_path",
    "origin",
    "next_hop",
    "local_pref",
    "med",
    "communities",
    "age_s",
)
_READ_S, _AGAIN_S = 10.0, 0.5
"""How long to wait while routes are being read, and the interval between queries meanwhile."""


def show_bgp_routes(agent: AgentClient, words: list[str]) -> Output:
    """Routes that match all conditions given."""
    query: dict[str, Any] = {}
    rest = list(words)
    if rest and rest[0] not in {*_SWITCHES, *_VALUED}:
        if not rest[0][:1].isalnum() or not {".", ":"} & set(rest[0]):
            raise CommandError(_USAGE)
        query["prefix"], rest = rest[0], rest[1:]
    answer = _read(agent, asked(BGP_SEARCH, {**query, **fields(rest, _SWITCHES, _VALUED)}))
    return Output(answer.model_dump(mode="json"), "\n".join(_lines(answer)))


def _read(agent: AgentClient, question: BgpSearchQuery) -> BgpSearch:
    """The answer once all routes are read, or after ``_READ_S`` the answer so far."""
    until = time.monotonic() + _READ_S
    while True:
        answer = agent.state(BGP_SEARCH, question)
        if answer.state in ("absent", "ready") or answer.truncated or time.monotonic() > until:
            return answer
        time.sleep(_AGAIN_S)


def _lines(answer: BgpSearch) -> Iterator[str]:
    if answer.state != "absent":
        yield text.table(map(_row, answer.routes), _COLUMNS)
        if answer.total > len(answer.routes):
            yield f"{len(answer.routes)} of {answer.total} routes; `limit N` and `offset N` show others"
        yield answer.says
    if answer.note:
        yield text.clean(answer.note)


def _row(route: FoundRoute) -> dict[str, Any]:
    return {
        **route.model_dump(include={"prefix", "neighbor", "as_path", "origin", "next_hop", "med"}),
        "local_pref": route.local_preference,
        "communities": (*route.communities, *route.large_communities, *route.extended_communities),
        "age_s": None if route.age_s is None else round(route.age_s),
    }
