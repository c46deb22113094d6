"""BFD is let in from whom it watches, and from the links on which OSPF looks for its neighbors. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from appliance.config.document import RouterConfig
from appliance.dataplane.control_plane.policy import BfdPeer
from frr_config import Routing
from frr_config.protocols.bgp.model import Bgp, Neighbor, PeerGroup
from frr_config.protocols.ospf.model import OspfInterface


def opens(config: RouterConfig) -> dict[str, Any]:
    """The neighbors and next hops, and the links."""
    ospf = config.routing.ospf
    interfaces = {} if ospf is None else ospf.interfaces
    watched = {name for name, one in interfaces.items() if _watches(one)}
    guarded = {name for name, one in config.interfaces.items() if one.link is not None}
    return {
        "bfd": tuple(sorted(set(_bfd_peers(config.routing)))),
        "bfd_links": tuple(sorted(guarded.intersection(watched))),
    }


def _watches(interface: OspfInterface) -> bool:
    return interface.bfd_profile is not None and not interface.passive


def _bfd_peers(routing: Routing) -> Iterator[BfdPeer]:
    if routing.bgp is not None:
        yield from _bgp_neighbors_with_bfd(routing.bgp)
    for route in routing.static.values():
        for hop in route.next_hops:
            if hop.bfd_profile is not None and hop.address is not None:
                yield BfdPeer(str(ip_network(hop.address)), hop.bfd_multihop)


def _bgp_neighbors_with_bfd(bgp: Bgp) -> Iterator[BfdPeer]:
    """bgpd takes a neighbor for distant where it is told of hops, or is internal and on no link of its own.

    The latter is not known here: BFD of an internal neighbor is open in both forms.
    """
    for address, neighbor in bgp.neighbors.items():
        group = bgp.peer_groups.get(neighbor.peer_group) if neighbor.peer_group is not None else None
        if not neighbor.enabled or not (neighbor.bfd_profile or (group is not None and group.bfd_profile)):
            continue
        remote_asn = neighbor.remote_asn or (None if group is None else group.remote_asn)
        distant = _hops(neighbor, group) > 1
        if distant or remote_asn in ("internal", bgp.asn):
            yield BfdPeer(str(ip_network(address)), multihop=True)
        if not distant:
            yield BfdPeer(str(ip_network(address)))


def _hops(neighbor: Neighbor, group: PeerGroup | None) -> int:
    for settings in (neighbor, group):
        if settings is not None and (hops := settings.ebgp_multihop or settings.ttl_security_hops):
            return hops
    return 1
