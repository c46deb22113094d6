"""Clauses of route maps that the daemon which evaluates the map would ignore. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from appliance.config.context import Context
from appliance.config.pointer import join
from appliance.config.route_map_use import RouteMapUse
from appliance.config.vrf_view import pointer_in
from appliance.errors import Problem
from appliance.features.registry import declared
from frr_config.protocols.policy.clauses import Clause, Place, clauses_of, title
from frr_config.protocols.policy.model import RouteMap, RouteMapRule
from frr_config.version import V8_4, FrrVersion


def ignored(context: Context) -> Iterator[Problem]:
    """A problem at each clause that counts for nothing at a place where the document uses its map.

    A release of FRR that is not known yet is taken for the oldest one that is supported.
    """
    version = FrrVersion.parse(context.capabilities.frr) if context.capabilities.frr else V8_4
    maps = context.config.routing.policy.route_maps
    clauses: dict[str, list[tuple[int, RouteMapRule, list[Clause]]]] = {}
    reported: set[tuple[str, int, Clause]] = set()

    @cache
    def why(place: Place, clause: Clause) -> str:
        return place.why_idle(clause, version)

    for (name, place), use in _uses(context).items():
        for called in _with_called(maps, name):
            if called not in clauses:
                clauses[called] = _clauses(maps[called])
            for sequence, rule, own in clauses[called]:
                if place.never_reached(rule.match, version):
                    continue
                for clause in own:
                    reason = why(place, clause) or place.why_value(clause, rule)
                    if reason and (called, sequence, clause) not in reported:
                        reported.add((called, sequence, clause))
                        yield _problem(called, sequence, clause, use, reason)


def _problem(route_map: str, sequence: int, clause: Clause, use: RouteMapUse, reason: str) -> Problem:
    by = "" if route_map == use.route_map else f", whose route map {use.route_map} calls this one"
    path = join(["routing", "policy", "route_maps", route_map, "rules", str(sequence), *clause])
    return Problem(
        path,
        f"{title(clause)} of rule {sequence} of route map {route_map} is ignored for {use.what}{by} "
        f"({use.pointer}): {reason}. Remove it, or use another route map there",
    )


def _uses(context: Context) -> Mapping[tuple[str, Place], RouteMapUse]:
    """The first use of each map at each kind of place."""
    found: dict[tuple[str, Place], RouteMapUse] = {}
    for view in context.each_vrf():
        for uses in declared("route_maps", "uses"):
            for use in uses(view.config):
                key = (use.route_map, use.place)
                if key not in found:
                    place = pointer_in(view.vrf, use.pointer)
                    found[key] = RouteMapUse(use.route_map, place, use.what, use.place)
    return found


def _with_called(maps: Mapping[str, RouteMap], name: str) -> Sequence[str]:
    """A route map and all that it calls, each once; names of maps that do not exist are left out."""
    found = [name] if name in maps else []
    for one in found:
        called = [rule.call for rule in maps[one].rules.values() if rule.call in maps]
        found += dict.fromkeys(other for other in called if other is not None and other not in found)
    return found


def _clauses(route_map: RouteMap) -> list[tuple[int, RouteMapRule, list[Clause]]]:
    return [(sequence, rule, list(clauses_of(rule))) for sequence, rule in sorted(route_map.rules.items())]
