"""The effect on destinations of static routes. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from appliance.config.context import network
from appliance.config.pointer import join
from appliance.features.static.resolving import told, unresolved
from appliance.features.static.table import Table, stands, tables, touched
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change
from appliance.impact.result import Finding
from frr_config.protocols.static.model import NextHop, StaticRoute
from frr_config.types import IpAddress

_SHOWN = 5


def routes(change: Change) -> Iterator[Finding]:
    """Routes that are removed, can no longer be resolved, or drop packets they forwarded before."""
    if stands(change):
        return
    before, after = tables(change)
    for prefix in touched(change):
        change.in_time()
        was, now = before.route(prefix), after.route(prefix)
        if was is None:
            continue
        if not before.is_usable(was) or was.blackhole or before.is_hidden(prefix) or after.is_hidden(prefix):
            continue
        if now is None:
            yield _gone(prefix, after, "its static route is removed", join(["routing", "static", prefix]))
        elif now.blackhole:
            yield Finding(
                grade="certain",
                kind="traffic",
                path=join(["routing", "static", prefix]),
                text=f"Packets to {prefix} are dropped: its static route becomes a blackhole.",
            )
        elif not after.is_usable(now):
            yield _gone(
                prefix,
                after,
                "no next hop of its static route can be reached",
                join(["routing", "static", prefix]),
            )
        elif before.is_connected(was) and not after.is_connected(now):
            yield Finding(
                grade="possible",
                kind="routes",
                path=join(["routing", "static", prefix]),
                text=f"No next hop of the static route to {prefix} is on a connected network any more.",
                depends_on="no other route leads to one of them",
            )
        elif now is not was:
            yield from _otherwise(prefix, was, now)
    unused = list(unresolved(change, before, after))
    yield from told(unused)
    idle = {prefix for one in unused if one.all_paths for prefix in one.prefixes}
    yield from _begun(change, before, after, idle)
    yield from _connected(change, before)


def _otherwise(prefix: str, was: StaticRoute, now: StaticRoute) -> Iterator[Finding]:
    """The route has other next hops, other distances, or conditions for using them."""
    earlier = {_path(hop): hop for hop in was.next_hops}
    watched = [
        f"{hop.address} ({condition})"
        for hop in now.next_hops
        if (before := earlier.get(_path(hop))) is not None and (condition := _condition(before, hop))
    ]
    if watched:
        more = f" and {len(watched) - _SHOWN} more" if len(watched) > _SHOWN else ""
        yield Finding(
            grade="possible",
            kind="routes",
            path=join(["routing", "static", prefix]),
            text=f"The static route to {prefix} uses {', '.join(watched[:_SHOWN])}{more} only while it "
            "answers.",
            depends_on="it does not answer this router, which now waits for an answer",
        )
    if {(*_path(hop), hop.distance) for hop in was.next_hops} != {
        (*_path(hop), hop.distance) for hop in now.next_hops
    }:
        yield _moved([prefix], now, "its static route changes")


def _condition(was: NextHop, now: NextHop) -> str:
    """The new condition, other than its place and distance, under which a path is used; empty if none."""
    title = ""
    for name, field in NextHop.model_fields.items():
        if name in ("address", "interface", "vrf", "distance") or getattr(now, name) == field.default:
            continue
        if getattr(was, name) != field.default:
            return ""
        title = title or f"{field.title} {getattr(now, name)}"
    return title


def _path(hop: NextHop) -> tuple[str | None, str | None, str | None]:
    return hop.address, hop.interface, hop.vrf


def _connected(change: Change, before: Table) -> Iterator[Finding]:
    """Networks that become connected, and to which static routes led before."""
    for one in change.connected_after.all:
        change.in_time()
        if change.connected_before.has(one.network):
            continue
        if (led := before.leading(one.network)) is not None:
            yield Finding(
                grade="possible",
                kind="routes",
                path=join(["interfaces", one.interface, "addresses"]),
                text=f"Packets to {one.network} go out on {one.interface}, which then has an address in it, "
                f"and no longer take the static route to {led}.",
                depends_on=f"their destinations are not on {one.interface}",
            )


def _begun(change: Change, before: Table, after: Table, idle: Collection[str]) -> Iterator[Finding]:
    """Static routes that did not exist before, or could not be used; ``idle`` ones still cannot."""
    taken: list[str] = []
    for prefix in touched(change):
        change.in_time()
        was, now = before.route(prefix), after.route(prefix)
        if now is None or prefix in idle or after.is_hidden(prefix):
            continue
        if now.blackhole:
            if was is None:
                yield Finding(
                    grade="certain",
                    kind="traffic",
                    path=join(["routing", "static", prefix]),
                    text=(
                        f"Packets to {prefix} are dropped unless a longer prefix matches: its static route "
                        "is a blackhole."
                    ),
                )
        elif (was is None or not before.is_usable(was)) and after.is_usable(now) and before.may_lead(prefix):
            taken.append(prefix)
    if len(taken) > _SHOWN:
        yield _moved(taken, None, "their static routes are preferred")
    else:
        for prefix in taken:
            yield _moved([prefix], after.route(prefix), "its static route is preferred")


def leads(seen: Change, one: IpAddress, after: bool) -> frozenset[str] | None:
    """The interfaces by which packets to the address leave in a document; None: only a protocol may tell."""
    table = tables(seen)[1 if after else 0]
    found = table.ways(one)
    return None if not found and table.has_protocols else found


def _ways(route: StaticRoute | None) -> str:
    if route is None:
        return "other next hops"
    hops = [" on ".join(filter(None, (hop.address, hop.interface))) for hop in route.next_hops]
    return ", ".join(hops[:_SHOWN]) + (f" and {len(hops) - _SHOWN} more" if len(hops) > _SHOWN else "")


def _moved(prefixes: list[str], route: StaticRoute | None, why: str) -> Finding:
    """Packets take another path; only the routing daemon knows the old one. Without ``route``: several."""
    shown = ", ".join(prefixes[:_SHOWN])
    more = f" and {len(prefixes) - _SHOWN:,} more" if len(prefixes) > _SHOWN else ""
    return Finding(
        grade="possible",
        kind="routes",
        path=join(["routing", "static", *(prefixes if len(prefixes) == 1 else ())]),
        text=f"Packets to {shown}{more} go via {_ways(route)} unless a longer prefix matches: {why}.",
        depends_on="they take another path now and the new one does not lead there",
    )


def _gone(prefix: str, after: Table, why: str, path: str) -> Finding:
    instead = after.covering(network(prefix))
    if instead is not None:
        return Finding(
            grade="possible",
            kind="routes",
            path=path,
            text=f"Packets to {prefix} take the route to {instead} instead: {why}.",
            depends_on="the routers on that path do not forward them there",
        )
    if after.has_protocols:
        return Finding(
            grade="possible",
            kind="routes",
            path=path,
            text=f"The static routes leave {prefix} without a route: {why}.",
            depends_on="no routing protocol provides one",
        )
    return Finding(
        grade="certain",
        kind="routes",
        path=path,
        text=f"No route leads to {prefix} any more: {why}. Packets to it are dropped.",
    )


ANALYSES = (Analysis("static routes", routes, each_vrf=True),)
