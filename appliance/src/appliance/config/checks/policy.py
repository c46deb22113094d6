"""Routing policy: the lists and maps that route maps name, and the routes they are named from."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from appliance.config.checks.context import Context, family_title
from appliance.config.pointer import escape
from appliance.errors import Problem
from frr_config.protocols.policy.model import RouteMapRule

RULES = "/routing/policy/route_maps/{name}/rules/{sequence}"


def check(context: Context) -> Iterator[Problem]:
    """Everything a route map names exists and is of the right kind; calls make no loop."""
    policy = context.config.routing.policy
    for name in policy.community_lists:
        if name.isdecimal():
            path = f"/routing/policy/community_lists/{name}"
            yield Problem(path, "a name of digits alone is one of FRR's numbered lists; add a letter")
    for name, route_map in policy.route_maps.items():
        for sequence, rule in sorted(route_map.rules.items()):
            yield from _rule(context, rule, RULES.format(name=escape(name), sequence=sequence))
    yield from _call_loops(context)


def _rule(context: Context, rule: RouteMapRule, path: str) -> Iterator[Problem]:
    policy, match = context.config.routing.policy, rule.match
    yield from prefix_list(context, match.prefix_list, "ipv4", f"{path}/match/prefix_list")
    yield from prefix_list(context, match.ipv6_prefix_list, "ipv6", f"{path}/match/ipv6_prefix_list")
    if match.as_path_list is not None and match.as_path_list not in policy.as_path_lists:
        yield Problem(f"{path}/match/as_path_list", f"there is no AS path list {match.as_path_list}")
    if match.community_list is not None and match.community_list not in policy.community_lists:
        yield Problem(f"{path}/match/community_list", f"there is no community list {match.community_list}")
    if match.interface is not None and match.interface not in context.config.interfaces:
        yield Problem(f"{path}/match/interface", f"there is no interface {match.interface}")
    if rule.call is not None and rule.call not in policy.route_maps:
        yield Problem(f"{path}/call", f"there is no route map {rule.call}")
    if rule.set.source is not None and ip_address(rule.set.source) not in context.own:
        yield Problem(f"{path}/set/source", f"{rule.set.source} is not an address of this router")


def _call_loops(context: Context) -> Iterator[Problem]:
    """Depth first over calls; a call to a map that is still open closes a loop."""
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
    """The prefix list named at ``path`` exists and is of this family."""
    if name is None:
        return
    found = context.config.routing.policy.prefix_lists.get(name)
    if found is None:
        yield Problem(path, f"there is no prefix list {name}")
    elif found.family != family:
        needed, has = family_title(family), family_title(found.family)
        yield Problem(path, f"{name} is an {has} prefix list; an {needed} one is needed here")


def route_map(context: Context, name: str | None, path: str) -> Iterator[Problem]:
    """The route map named at ``path`` exists."""
    if name is not None and name not in context.config.routing.policy.route_maps:
        yield Problem(path, f"there is no route map {name}")
