"""The effect on destinations of static routes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Literal

from appliance.config.context import address, network
from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.features.static.checks import may_learn_routes
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change, Connected, is_up
from appliance.impact.result import Finding
from frr_config.protocols.static.model import NextHop, StaticRoute
from frr_config.types import DEFAULT_VRF, IpNetwork

_SHOWN = 5
_Resolution = Literal["connected", "maybe", "no"]
_Side = tuple[RouterConfig, Connected]
"""A VRF's document and its connected networks."""


def _side_before(change: Change, vrf: str) -> _Side:
    seen = change.in_vrf(vrf)
    return seen.before, seen.connected_before


def _side_after(change: Change, vrf: str) -> _Side:
    seen = change.in_vrf(vrf)
    return seen.after, seen.connected_after


class Table:
    """The static routes of a document, searchable by prefix in constant time."""

    def __init__(self, config: RouterConfig, connected: Connected, beside: Callable[[str], _Side]) -> None:
        self._config, self._connected, self._beside = config, connected, beside
        self._resolved: dict[tuple[str | None, ...], _Resolution] = {}

    @cached_property
    def _prefixes(self) -> dict[tuple[int, int, int], str]:
        return {_key(network(prefix)): prefix for prefix in self._config.routing.static}

    @cached_property
    def _lengths(self) -> set[tuple[int, int]]:
        return {(version, length) for version, length, _ in self._prefixes}

    @property
    def has_protocols(self) -> bool:
        """Whether a routing protocol may also bring routes."""
        return may_learn_routes(self._config.routing)

    def route(self, prefix: str) -> StaticRoute | None:
        """The prefix's own route."""
        return self._config.routing.static.get(prefix)

    def is_usable(self, route: StaticRoute) -> bool:
        """Whether it drops matching packets, or one of its paths is, or may be, resolved."""
        return route.blackhole or any(self._resolution(hop) != "no" for hop in route.next_hops)

    def is_connected(self, route: StaticRoute) -> bool:
        """Whether it drops matching packets, or one of its paths leads to a connected network."""
        return route.blackhole or any(self._resolution(hop) == "connected" for hop in route.next_hops)

    def covering(self, prefix: IpNetwork) -> str | None:
        """The usable route, or connected network, that packets take instead."""
        found = self._connected.of(prefix.network_address)
        best = (found.network.prefixlen, str(found.network)) if found is not None else None
        number, bits = int(prefix.network_address), prefix.max_prefixlen
        for version, length in self._lengths:
            if version != prefix.version or length >= prefix.prefixlen or (best and length <= best[0]):
                continue
            text = self._prefixes.get((version, length, number >> (bits - length) << (bits - length)))
            if text is not None and self.is_usable(self._config.routing.static[text]):
                best = (length, text)
        return None if best is None or best[0] > prefix.prefixlen else best[1]

    def is_hidden(self, prefix: str) -> bool:
        """Whether packets take a connected network of the same prefix instead of this route."""
        return self._connected.has(network(prefix))

    def leading(self, prefix: IpNetwork) -> str | None:
        """The usable static route, other than a default route, that packets to the prefix take."""
        number, bits = int(prefix.network_address), prefix.max_prefixlen
        for version, length in sorted(self._lengths, key=lambda one: -one[1]):
            if version == prefix.version and 0 < length <= prefix.prefixlen:
                text = self._prefixes.get((version, length, number >> (bits - length) << (bits - length)))
                if text is not None and self.is_usable(self._config.routing.static[text]):
                    return text
        return None

    def may_lead(self, prefix: str) -> bool:
        """Whether packets to the prefix may be forwarded without a route of its own."""
        return self.has_protocols or self.covering(network(prefix)) is not None

    def resolves_as(self, other: Table, route: StaticRoute) -> bool:
        """Whether each of the route's paths is resolved in the same way as in the other table."""
        return all(self._resolution(hop) == other._resolution(hop) for hop in route.next_hops)

    def _resolution(self, hop: NextHop) -> _Resolution:
        key = (hop.address, hop.interface, hop.vrf)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(hop)
        return self._resolved[key]

    def _resolve(self, hop: NextHop) -> _Resolution:
        if hop.vrf is not None:
            return self._resolve_beside(hop, *self._beside("" if hop.vrf == DEFAULT_VRF else hop.vrf))
        if hop.interface is not None:
            return "connected" if is_up(self._config, hop.interface) else "no"
        assert hop.address is not None
        gateway = address(hop.address)
        if self._connected.of(gateway) is not None:
            return "connected"
        # Through another route: the daemon determines whether that one is resolved.
        return "maybe" if self._is_covered(gateway.packed, gateway.version) else "no"

    @staticmethod
    def _resolve_beside(hop: NextHop, config: RouterConfig, connected: Connected) -> _Resolution:
        """A next hop in another VRF, whose routes its daemon determines."""
        if hop.interface is not None:
            return "connected" if is_up(config, hop.interface) else "no"
        assert hop.address is not None
        return "connected" if connected.of(address(hop.address)) is not None else "maybe"

    def _is_covered(self, packed: bytes, version: int) -> bool:
        number, bits = int.from_bytes(packed, "big"), len(packed) * 8
        return self.has_protocols or any(
            (version, length, number >> (bits - length) << (bits - length)) in self._prefixes
            for known, length in self._lengths
            if known == version and length > 0
        )


def _key(prefix: IpNetwork) -> tuple[int, int, int]:
    return prefix.version, prefix.prefixlen, int(prefix.network_address)


def tables(change: Change) -> tuple[Table, Table]:
    """The table before the change and the one after it."""
    return change.once(_tables)


def _tables(change: Change) -> tuple[Table, Table]:
    return (
        Table(change.before, change.connected_before, partial(_side_before, change)),
        Table(change.after, change.connected_after, partial(_side_after, change)),
    )


def stands(change: Change) -> bool:
    """Whether static routes, and what resolves them, are unchanged, also in the VRFs that they lead to."""
    return change.before.routing.static == change.after.routing.static and _is_reached_alike(change)


def touched(change: Change) -> tuple[str, ...]:
    """Prefixes whose static route is in only one document, or may have another effect than before.

    All others are used, or not used, as before. A document can have thousands of routes, and most changes
    concern one.
    """
    return change.once(_touched)


def _touched(change: Change) -> tuple[str, ...]:
    before, after = change.before.routing.static, change.after.routing.static
    prefixes = tuple(dict.fromkeys((*before, *after)))
    if not change.once(_is_reached_alike):
        return prefixes
    was, now = tables(change)
    return tuple(
        prefix
        for prefix in prefixes
        if (route := before.get(prefix)) is None
        or route is not after.get(prefix)
        or not was.resolves_as(now, route)
    )


def _is_reached_alike(change: Change) -> bool:
    """Whether interfaces are up, and have addresses, as before."""
    whole = change.whole or change
    return whole.before.interfaces == whole.after.interfaces or _reach(whole.before) == _reach(whole.after)


def _reach(config: RouterConfig) -> dict[str, tuple[str | None, bool, tuple[str, ...]]]:
    return {name: (one.vrf, is_up(config, name), one.addresses) for name, one in config.interfaces.items()}


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
    yield from _begun(change, before, after)
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


def _begun(change: Change, before: Table, after: Table) -> Iterator[Finding]:
    """Static routes that did not exist before, or could not be used."""
    taken: list[str] = []
    for prefix in touched(change):
        change.in_time()
        was, now = before.route(prefix), after.route(prefix)
        if now is None or after.is_hidden(prefix):
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
