"""Routing policy: the lists and maps that route maps name, and the routes they are named from."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from appliance.config.context import Context, family_title
from appliance.config.pointer import escape
from appliance.errors import Problem
from appliance.features.policy.evaluated import ignored
from frr_config.protocols.policy.model import RouteMapRule, SetActions

_NOTHING = SetActions()
RULES = "/routing/policy/route_maps/{name}/rules/{sequence}"


def check(context: Context) -> Iterator[Problem]:
    """The objects a route map names are of the right kind, and calls form no loop."""
    policy = context.config.routing.policy
    for name in policy.community_lists:
        if name.isdecimal():
            path = f"/routing/policy/community_lists/{name}"
            yield Problem(path, "FRR treats a name made only of digits as a numbered list: add a letter")
    for name, route_map in policy.route_maps.items():
        for sequence, rule in sorted(route_map.rules.items()):
            yield from _rule(context, rule, RULES.format(name=escape(name), sequence=sequence))
    yield from _call_loops(context)
    yield from ignored(context)


def _rule(context: Context, rule: RouteMapRule, path: str) -> Iterator[Problem]:
    match = rule.match
    yield from prefix_list(context, match.prefix_list, "ipv4", f"{path}/match/prefix_list")
    yield from prefix_list(context, match.ipv6_prefix_list, "ipv6", f"{path}/match/ipv6_prefix_list")
    if rule.action == "deny":
        for field, given in (("set", rule.set != _NOTHING), ("call", rule.call is not None)):
            if given:
                yield Problem(
                    f"{path}/{field}", "is ignored in a deny rule, which ends the route map at once"
                )
    if rule.set.source is not None and ip_address(rule.set.source) not in context.own:
        yield Problem(f"{path}/set/source", f"{rule.set.source} is not an address of this router")


def _call_loops(context: Context) -> Iterator[Problem]:
    """Depth-first over calls; a call to a map that is still open closes a loop."""
    maps = context.config.routing.policy.route_maps
    done: set[str] = set()
    for start in sorted(maps):
        open_maps: list[str] = []
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            name, leaving = stack.pop()
            if leaving:
                open_maps.remove(name)
                done.add(name)
                continue
            if name in done or name in open_maps:
                continue
            open_maps.append(name)
            stack.append((name, True))
            for sequence, rule in sorted(maps[name].rules.items()):
                if rule.call in open_maps:
                    loop = " calls ".join([*open_maps[open_maps.index(rule.call) :], rule.call])
                    path = RULES.format(name=escape(name), sequence=sequence)
                    yield Problem(f"{path}/call", f"the calls make a loop: {loop}")
                elif rule.call is not None and rule.call in maps:
                    stack.append((rule.call, False))


def prefix_list(context: Context, name: str | None, family: str, path: str) -> Iterator[Problem]:
    """The prefix list named at ``path`` is of this family."""
    found = context.config.routing.policy.prefix_lists.get(name) if name is not None else None
    if found is not None and found.family != family:
        needed, has = family_title(family), family_title(found.family)
        yield Problem(path, f"{name} is an {has} prefix list; an {needed} one is needed here")
