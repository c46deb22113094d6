"""Where BGP evaluates route maps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.config.route_map_use import RouteMapUse
from appliance.features.bgp.effective import FAMILIES, TITLES, Family, peer_of
from frr_config.protocols.bgp.model import Bgp, BgpFamily
from frr_config.protocols.policy.clauses import Place, Spot

_IPV: dict[Family, Literal["ipv4", "ipv6"]] = {"ipv4_unicast": "ipv4", "ipv6_unicast": "ipv6"}


def uses(config: RouterConfig) -> Iterator[RouteMapUse]:
    """Those of neighbors, also of disabled ones, of peer groups, redistribution and imports."""
    bgp = config.routing.bgp
    if bgp is None:
        return
    for family in FAMILIES:
        for address in bgp.neighbors:
            yield from _of_neighbor(config, address, family)
        for name in bgp.peer_groups:
            yield from _of_group(bgp, name, family)
        yield from _of_family(getattr(bgp, family), family)


def _of_neighbor(config: RouterConfig, address: str, family: Family) -> Iterator[RouteMapUse]:
    peer = peer_of(config, address)
    if peer is None or not peer.exchanges(family):
        return
    for field, spot, words in _ways("bgp_out_internal" if peer.is_internal else "bgp_out_external"):
        name = peer.named(family, field)
        if name is None:
            continue
        own = getattr(peer.own, family)
        is_own = own is not None and getattr(own, field) is not None
        holder = ["neighbors", address] if is_own else ["peer_groups", str(peer.own.peer_group)]
        yield RouteMapUse(
            name,
            join(["routing", "bgp", *holder, family, field]),
            f"{TITLES[family]} routes {words} {address}",
            Place(spot, _IPV[family]),
        )


def _ways(out: Spot) -> tuple[tuple[str, Spot, str], ...]:
    """Fields, where their maps are evaluated, and words for the routes."""
    return ("route_map_in", "bgp_in", "received from"), ("route_map_out", out, "sent to")


def _of_group(bgp: Bgp, name: str, family: Family) -> Iterator[RouteMapUse]:
    """Whatever members it has or will have: what neither kind of neighbor does."""
    exchanged = getattr(bgp.peer_groups[name], family)
    for field, spot, words in _ways("bgp_out"):
        if exchanged is not None and (route_map := getattr(exchanged, field)) is not None:
            yield RouteMapUse(
                route_map,
                join(["routing", "bgp", "peer_groups", name, family, field]),
                f"{TITLES[family]} routes {words} members of peer group {name}",
                Place(spot, _IPV[family]),
            )


def _of_family(settings: BgpFamily, family: Family) -> Iterator[RouteMapUse]:
    at = ["routing", "bgp", family]
    for protocol in type(settings.redistribute).model_fields:
        redistributed = getattr(settings.redistribute, protocol)
        if redistributed is not None and redistributed.route_map is not None:
            yield RouteMapUse(
                redistributed.route_map,
                join([*at, "redistribute", protocol, "route_map"]),
                f"{protocol} routes redistributed into BGP, {TITLES[family]}",
                Place("bgp_redistribution", _IPV[family]),
            )
    if settings.import_route_map is not None:
        yield RouteMapUse(
            settings.import_route_map,
            join([*at, "import_route_map"]),
            f"{TITLES[family]} routes imported from other VRFs",
            Place("bgp_import", _IPV[family]),
        )
