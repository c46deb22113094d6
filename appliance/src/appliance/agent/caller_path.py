"""The path by which a caller reaches this router, and whether a plan touches it.

The answer to the caller leaves the host by the route to his address. The document decides that path when it
leads out of one of its interfaces, when the gateway is this router itself, or when it leads over another
gateway and the caller is on the network of one of its interfaces: then this router is most likely his own
gateway. Hops farther away cannot be known here, and nothing is claimed about them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_interface, ip_network

from appliance.config.document import RouterConfig
from appliance.config.pointer import split
from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.namespace import Namespace, attributes
from appliance.dataplane.rtnetlink import NetlinkError
from appliance.engine.backend import Step
from appliance.engine.own_path import Caller
from appliance.impact.change import Arrival

log = logging.getLogger(__name__)

Address = IPv4Address | IPv6Address
_PROTOCOLS = {186: "bgp", 188: "ospf"}
"""Protocols of routes, as FRR marks them in the kernel."""
_SHOWN = 5


@dataclass(frozen=True)
class Hop:
    """The route by which a kernel sends packets to an address."""

    device: str
    gateway: Address | None = None
    """None: the address is on the device's own network."""
    protocol: str = ""
    """``bgp`` or ``ospf`` when the route was learned."""


@dataclass(frozen=True)
class Way:
    """The part of the caller's path that the document decides."""

    interfaces: frozenset[str] = frozenset()
    forwarded: Hop | None = None
    """The data plane's route to him, when it forwards the packets."""


class CallerPath:
    """The OwnPath of this machine, whose data plane works with the kernel of ``netns``."""

    def __init__(self, netns: str) -> None:
        # Namespaces of its own: a long answer to another caller delays no commit.
        self._host, self._space = Namespace(None), Namespace(netns)

    def __call__(
        self, caller: Caller, steps: Sequence[Step], before: RouterConfig, after: RouterConfig
    ) -> tuple[str, ...]:
        """Sentences; none when the path is not touched or not known."""
        host, forwarded = self._hop(self._host, caller.address), self._hop(self._space, caller.address)
        way = way_of(host, forwarded, before)
        return touches(way, caller.address, steps, before, after)

    def arrival(self, caller: Caller, config: RouterConfig) -> Arrival | None:
        """The interface of ``config`` by which he comes; None when by none, or when that is not known."""
        host, forwarded = self._hop(self._host, caller.address), self._hop(self._space, caller.address)
        hop = way_of(host, forwarded, config).forwarded
        if host is None or hop is None:
            return None
        return Arrival(caller.address, hop.device, direct=hop is host)

    def close(self) -> None:
        """End the threads."""
        self._host.close()
        self._space.close()

    def _hop(self, space: Namespace, address: Address) -> Hop | None:
        try:
            return space.run(_route_to, space, address)
        except (DataPlaneError, NetlinkError, OSError) as error:
            log.info("the way to a caller in namespace %s is not known: %s", space.name, error)
            return None


def way_of(host: Hop | None, forwarded: Hop | None, config: RouterConfig) -> Way:
    """The path of a caller whom the host reaches by ``host`` and the data plane by ``forwarded``. Pure."""
    if host is None:
        return Way()
    if host.device in config.interfaces:
        return Way(_with_parents({host.device}, config), host)
    if host.gateway is None or forwarded is None or forwarded.device not in config.interfaces:
        return Way()
    ours = {
        name
        for name, interface in config.main_interfaces.items()
        if any(ip_interface(address).ip == host.gateway for address in interface.addresses)
    }
    if ours or forwarded.gateway is None:
        return Way(_with_parents(ours | {forwarded.device}, config), forwarded)
    return Way()


def touches(
    way: Way, address: Address, steps: Sequence[Step], before: RouterConfig, after: RouterConfig
) -> tuple[str, ...]:
    """How these steps touch the path to ``address``, a sentence each. Pure."""
    if not way.interfaces:
        return ()
    return tuple(dict.fromkeys(_sentences(way, address, steps, before, after)))[:_SHOWN]


def _sentences(
    way: Way, address: Address, steps: Sequence[Step], before: RouterConfig, after: RouterConfig
) -> Iterator[str]:
    bound = _bound(way, before) | _bound(way, after)
    route = _best_static(address, before), _best_static(address, after)
    for step in steps:
        match split(step.path):
            case ["interfaces", name, *_] if name in way.interfaces:
                yield f"it changes interface {name}, through which {address} reaches the router"
            case ["acls", name, *_] if name in bound:
                yield f"it changes access list {name}, which filters what {address} sends to the router"
            case ["routing", "static", *_] if route[0] != route[1]:
                prefixes = " and ".join(sorted({str(one[0]) for one in route if one is not None}))
                yield f"it changes the static route {prefixes}, by which {address} is reached"
            case ["routing", protocol, *_] if (
                way.forwarded is not None and protocol == way.forwarded.protocol and step.impact != "none"
            ):
                yield f"it changes {protocol.upper()}, from which the route to {address} is learned"
            case _ if step.impact.startswith("restarts "):
                yield f"it {step.impact}, which forwards what {address} sends to the router"


def _route_to(space: Namespace, address: Address) -> Hop | None:
    route = space.route()
    for message in route.route("get", dst=str(address)):
        known = attributes(message)
        if "RTA_OIF" not in known:
            continue
        link = attributes(next(iter(route.get_links(known["RTA_OIF"]))))
        gateway = known.get("RTA_GATEWAY") or (known.get("RTA_VIA") or {}).get("addr")
        return Hop(
            str(link["IFLA_IFNAME"]),
            ip_address(gateway) if gateway else None,
            _PROTOCOLS.get(message["proto"], ""),
        )
    return None


def _with_parents(names: set[str], config: RouterConfig) -> frozenset[str]:
    found: set[str] = set()
    left = set(names)
    while left:
        name = left.pop()
        found.add(name)
        left |= set(config.interfaces[name].beneath) - found
    return frozenset(found)


def _bound(way: Way, config: RouterConfig) -> set[str]:
    found = (config.interfaces[name] for name in way.interfaces if name in config.interfaces)
    return {str(acl) for interface in found for acl in (*interface.acl_in, *interface.acl_out)}


def _best_static(address: Address, config: RouterConfig) -> tuple[object, object] | None:
    """The static route that packets to ``address`` take, unless a network of the router's own is nearer."""
    fitting = [
        (network.prefixlen, str(prefix), route)
        for prefix, route in config.routing.static.items()
        if (network := ip_network(str(prefix))).version == address.version and address in network
    ]
    if not fitting:
        return None
    length, prefix, route = max(fitting, key=lambda one: one[0])
    interfaces = config.main_interfaces.values()
    own = (ip_interface(one).network for interface in interfaces for one in interface.addresses)
    if any(one.version == address.version and address in one and one.prefixlen >= length for one in own):
        return None
    return prefix, route
