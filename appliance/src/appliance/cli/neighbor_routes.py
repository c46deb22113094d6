"""``show route receive-protocol bgp`` and ``advertising-protocol bgp``: routes from and to a neighbor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.cli.questions import asked, fields, vrf_in
from appliance.client import AgentClient
from appliance.state.bgp_routes import BGP_ROUTES, BgpRoute, BgpRoutes

WAYS = {"receive-protocol": "received", "advertising-protocol": "advertised"}
"""Words after ``show route``, and the direction of each."""
_USAGE = (
    "show route receive-protocol|advertising-protocol bgp NEIGHBOR [vrf NAME] "
    "[ADDRESS|PREFIX [longest|longer]] [ipv4|ipv6] [community VALUE] [as NUMBER] [limit N] [offset N]"
)
_SWITCHES: dict[str, dict[str, Any]] = {
    "ipv4": {"family": "ipv4"},
    "ipv6": {"family": "ipv6"},
    "longest": {"longest": True},
    "longer": {"within": True},
}
_VALUED = {"community": "community", "as": "asn", "limit": "limit", "offset": "offset"}
_COLUMNS = ("prefix", "status", "next_hop", "as_path", "origin", "med", "local_pref", "communities", "policy")


def show_neighbor_routes(agent: AgentClient, words: list[str]) -> Output:
    """Routes received from or advertised to one BGP neighbor, with the policy's verdict on each."""
    if len(words) < 3 or words[1] != "bgp":
        raise CommandError(_USAGE)
    query: dict[str, Any] = {"address": words[2], "direction": WAYS[words[0]]}
    vrf, rest = vrf_in(words[3:])
    query |= vrf
    if rest and rest[0] not in {*_SWITCHES, *_VALUED}:
        query["prefix"], rest = rest[0], rest[1:]
    answer = agent.state(BGP_ROUTES, asked(BGP_ROUTES, {**query, **fields(rest, _SWITCHES, _VALUED)}))
    return Output(answer.model_dump(mode="json"), "\n".join(_lines(answer)))


def _lines(answer: BgpRoutes) -> Iterator[str]:
    if answer.routes or not answer.note:
        yield text.table([_row(route) for route in answer.routes], _COLUMNS)
    if answer.total > len(answer.routes):
        yield f"{len(answer.routes)} of {answer.total} routes; `limit N` and `offset N` show others"
    if answer.routes:
        yield f"Attributes are those {answer.attributes}."
    yield from (text.clean(f"{route.prefix}: {route.remark}") for route in answer.routes if route.remark)
    if answer.note:
        yield text.clean(answer.note)
    if answer.age_s >= 1:
        yield f"Read {answer.age_s:.0f} s ago."


def _row(route: BgpRoute) -> dict[str, Any]:
    policy = route.policy
    said = f"{policy.verdict}: {policy.rule}" if policy.rule else policy.verdict
    if policy.depends_on:
        said += f" (depends on {policy.depends_on})"
    if policy.changes:
        said += f" (sets {', '.join(policy.changes)})"
    known = (
        *(route.communities or ()),
        *(route.large_communities or ()),
        *(route.extended_communities or ()),
    )
    return {
        **route.model_dump(include={"prefix", "status", "next_hop", "as_path", "origin", "med"}),
        "local_pref": route.local_preference,
        "communities": "not reported" if route.communities is None else known,
        "policy": said,
    }
