"""Static routes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from ipaddress import ip_network

from appliance.config.context import Context, address, family_of, family_title, network
from appliance.config.pointer import escape
from appliance.errors import Problem
from frr_config import Routing
from frr_config.protocols.static.model import NextHop, StaticRoute
from frr_config.protocols.static.names import ALONE, misread
from frr_config.types import DEFAULT_VRF, IpAddress, is_unicast

_POINT_TO_POINT = 31
"""A network of this length, and of a longer one, has no broadcast address (RFC 3021)."""


def check_vrf(context: Context) -> Iterator[Problem]:
    """Prefixes that can be routed, and next hops that can be reached."""
    routes, can = context.config.routing.static, context.capabilities
    if len(routes) > can.max_static_routes:
        yield Problem("/routing/static", f"there can be at most {can.max_static_routes} static routes")
    covering = _Covering(context)
    right: set[tuple[int, str | None, str | None, str | None]] = set()
    for prefix, route in routes.items():
        path = f"/routing/static/{escape(prefix)}"
        if _unroutable(prefix):
            yield Problem(path, f"{prefix} cannot be routed: it is multicast, loopback or link-local")
        version = 6 if ":" in prefix else 4
        for index, hop in enumerate(route.next_hops):
            yield from _interface_name(route, hop, f"{path}/next_hops/{index}")
            # Thousands of routes share a few next hops: a next hop valid for one is valid for all.
            known = (version, hop.address, hop.interface, hop.vrf)
            if known in right:
                continue
            problems = list(_next_hop(context, covering, prefix, hop, f"{path}/next_hops/{index}"))
            yield from problems
            if not problems and not covering.looked:
                right.add(known)
            covering.looked = False


@lru_cache(maxsize=1 << 17)
def _unroutable(prefix: str) -> bool:
    parsed = network(prefix)
    return parsed.is_multicast or parsed.is_loopback or (parsed.version == 6 and parsed.is_link_local)


def _interface_name(route: StaticRoute, hop: NextHop, path: str) -> Iterator[Problem]:
    """FRR reads the name as a name."""
    if hop.interface is None or (word := misread(route, hop)) is None:
        return
    if word == hop.interface:
        read = f"FRR does not take an interface called {word}, which is a word of its command"
    else:
        read = f"FRR reads {hop.interface} here as short for its word {word}"
    instead = "give the interface another name"
    if hop.address is not None:
        instead += ", or leave it out"
    elif word in ALONE and word != hop.interface:
        instead = "give the next hop's address too, or the interface another name"
    yield Problem(f"{path}/interface", f"{read}: {instead}")


def _next_hop(
    context: Context, covering: _Covering, prefix: str, hop: NextHop, path: str
) -> Iterator[Problem]:
    if hop.vrf == (context.vrf or DEFAULT_VRF):
        yield Problem(f"{path}/vrf", "is the route's own VRF: leave it out")
        return
    there = context.beside(hop.vrf)
    if there is None or hop.address is None:
        return
    if hop.interface is not None and hop.interface not in there.config.interfaces:
        return
    gateway, at = address(hop.address), f"{path}/address"
    if gateway.version != network(prefix).version:
        family = family_title(family_of(prefix))
        yield Problem(at, f"{prefix} needs an {family} next hop, and {hop.address} is not one")
    elif not is_unicast(hop.address):
        yield Problem(at, f"{hop.address} cannot be a next hop")
    elif gateway in there.own:
        yield Problem(at, f"{hop.address} is this router's own address, on {there.own[gateway]}")
    elif (wire := _broadcast(there, gateway, hop)) is not None:
        yield Problem(
            at, f"{hop.address} is the broadcast address of {wire}, and the kernel takes no route by one"
        )
    elif gateway.version == 6 and gateway.is_link_local:
        if hop.interface is None:
            yield Problem(f"{path}/interface", f"the link-local next hop {hop.address} needs an interface")
    elif hop.vrf is not None and gateway in network(prefix):
        message = f"FRR cannot reach {hop.address} by a route that contains it: give the interface alone"
        yield Problem(at, message)
    elif hop.interface is not None:
        if there.connected(hop.address, hop.interface) is None:
            yield Problem(at, f"{hop.address} is not in a network of {hop.interface}")
    elif there.connected(hop.address) is not None:
        return
    elif hop.vrf is not None:
        yield Problem(at, f"{hop.address} is in no connected network of VRF {hop.vrf}")
    elif not covering.recursive(hop.address, prefix):
        yield Problem(at, f"{hop.address} is in no connected network, and no route can lead to it")


def _broadcast(there: Context, gateway: IpAddress, hop: NextHop) -> str | None:
    """The connected network of which this is the broadcast address: the kernel refuses such a next hop."""
    name = hop.interface or there.connected(str(gateway))
    for known in there.addresses.get(name or "", ()):
        wire = known.network
        if wire.version == 4 and wire.prefixlen < _POINT_TO_POINT and gateway == wire.broadcast_address:
            return f"{wire} on {name}"
    return None


def may_learn_routes(routing: Routing) -> bool:
    """Whether a routing protocol that brings routes runs."""
    return routing.bgp is not None or routing.ospf is not None


class _Covering:
    """Whether a next hop can be resolved through another route."""

    def __init__(self, context: Context) -> None:
        routing = context.config.routing
        self._dynamic = may_learn_routes(routing)
        self._prefixes = set(routing.static)
        self.looked = False
        """The answer held for that one prefix, not for any."""

    def recursive(self, address: str, own: str) -> bool:
        """A routing protocol may bring a route, or a static route other than ``own`` contains the address."""
        if self._dynamic:
            return True
        self.looked = True
        host = ip_network(address)
        for length in range(host.max_prefixlen, 0, -1):
            candidate = str(host.supernet(new_prefix=length))
            if candidate != own and candidate in self._prefixes:
                return True
        return False
