"""The static routes of a document as a table: what resolves them, what they cover, and what a change touches.
Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from ipaddress import ip_network
from typing import Literal

from appliance.config.context import address, network
from appliance.config.document import RouterConfig
from appliance.features.static.checks import may_learn_routes
from appliance.impact.change import Change, Connected, is_up
from frr_config.protocols.static.model import NextHop, StaticRoute
from frr_config.types import DEFAULT_VRF, IpAddress, IpNetwork

Resolution = Literal["connected", "maybe", "no"]
"""Of a next hop: over a connected network, by a routing protocol's route if there is one, or not at all."""
_DEEPEST = 32
"""How many static routes may resolve one another; a longer chain counts as one that leads nowhere."""
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
        self._resolved: dict[tuple[str | None, ...], Resolution] = {}
        self._under_way: set[tuple[str | None, ...]] = set()
        """Next hops whose resolution led to the one that is looked at: a route resolves none by itself."""
        self._cut = False

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
        return route.blackhole or any(self.resolution(hop) != "no" for hop in route.next_hops)

    def is_connected(self, route: StaticRoute) -> bool:
        """Whether it drops matching packets, or one of its paths leads to a connected network."""
        return route.blackhole or any(self.resolution(hop) == "connected" for hop in route.next_hops)

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

    def ways(self, one: IpAddress) -> frozenset[str]:
        """The interfaces by which packets to the address leave, empty for one that is unknown; none: they do
        not."""
        own = str(ip_network(one))
        route = self.route(own)
        found = own if route is not None and self.is_usable(route) else self.covering(ip_network(one))
        if found is None:
            return frozenset()
        connected = self._connected.of(one)
        if connected is not None and str(connected.network) == found:
            return frozenset((connected.interface,))
        hops = self._config.routing.static[found].next_hops
        return frozenset(self.interface_of(hop) or "" for hop in hops if self.resolution(hop) != "no")

    def interface_of(self, hop: NextHop) -> str | None:
        """The interface by which packets go to the next hop; None if unknown, or in another VRF."""
        if hop.vrf is not None or hop.interface is not None or hop.address is None:
            return hop.interface if hop.vrf is None else None
        network = self._connected.of(address(hop.address))
        return None if network is None else network.interface

    def may_lead(self, prefix: str) -> bool:
        """Whether packets to the prefix may be forwarded without a route of its own."""
        return self.has_protocols or self.covering(network(prefix)) is not None

    def resolves_as(self, other: Table, route: StaticRoute) -> bool:
        """Whether each of the route's paths is resolved in the same way as in the other table."""
        return all(self.resolution(hop) == other.resolution(hop) for hop in route.next_hops)

    def resolution(self, hop: NextHop) -> Resolution:
        """Whether packets reach the next hop."""
        key = (hop.address, hop.interface, hop.vrf)
        if key not in self._resolved:
            cut = self._cut
            if key in self._under_way or len(self._under_way) > _DEEPEST:
                self._cut = True
                return "no"
            self._cut = False
            self._under_way.add(key)
            found = self._resolve(hop)
            self._under_way.remove(key)
            if self._cut and self._under_way:
                return found  # it rests on a resolution that is not finished, and may be another later
            self._resolved[key], self._cut = found, cut
        return self._resolved[key]

    def _resolve(self, hop: NextHop) -> Resolution:
        if hop.vrf is not None:
            return self._resolve_beside(hop, *self._beside("" if hop.vrf == DEFAULT_VRF else hop.vrf))
        if hop.interface is not None:
            return "connected" if is_up(self._config, hop.interface) else "no"
        assert hop.address is not None
        if self._connected.of(address(hop.address)) is not None:
            return "connected"
        # By the longest usable static route; FRR 8.4 does not resolve a next hop by the default route.
        if (led := self.leading(ip_network(hop.address))) is not None:
            return "connected" if self.is_connected(self._config.routing.static[led]) else "maybe"
        # Only the daemon knows what a routing protocol brings.
        return "maybe" if self.has_protocols else "no"

    @staticmethod
    def _resolve_beside(hop: NextHop, config: RouterConfig, connected: Connected) -> Resolution:
        """A next hop in another VRF, whose routes its daemon determines."""
        if hop.interface is not None:
            return "connected" if is_up(config, hop.interface) else "no"
        assert hop.address is not None
        return "connected" if connected.of(address(hop.address)) is not None else "maybe"


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
