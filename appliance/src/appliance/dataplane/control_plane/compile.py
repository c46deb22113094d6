"""From the document to what the router lets in for itself. Pure."""

from __future__ import annotations

from ipaddress import ip_network

from appliance.config.document import RouterConfig
from appliance.dataplane.control_plane.policy import BgpPeer, ControlPlane, Opening
from frr_config.protocols.bgp.model import Bgp

_LARGEST_TTL = 255


def compile_control_plane(config: RouterConfig) -> ControlPlane:
    """BGP from neighbors that are up, OSPF where it is not passive, management where it is opened."""
    links = {name: one.link for name, one in config.interfaces.items() if one.link is not None}
    bgp, ospf = config.routing.bgp, config.routing.ospf
    speaking = () if ospf is None else (name for name, one in ospf.interfaces.items() if not one.passive)
    openings = (
        Opening(name, service, source)
        for name, link in links.items()
        for service in link.management_services
        for source in link.management_sources or ("",)
    )
    return ControlPlane(
        interfaces=tuple(sorted(links)),
        bgp=() if bgp is None else _peers(bgp),
        ospf=tuple(sorted(name for name in speaking if name in links)),
        management=tuple(sorted(set(openings))),
    )


def _peers(bgp: Bgp) -> tuple[BgpPeer, ...]:
    return tuple(
        sorted(
            BgpPeer(str(ip_network(address)), _least_ttl(bgp, address))
            for address, neighbor in bgp.neighbors.items()
            if neighbor.enabled
        )
    )


def _least_ttl(bgp: Bgp, address: str) -> int:
    """The neighbor's own distance counts, then its group's; the two settings of it exclude each other."""
    neighbor = bgp.neighbors[address]
    group = bgp.peer_groups.get(neighbor.peer_group) if neighbor.peer_group is not None else None
    hops = neighbor.ttl_security_hops
    if hops is None and neighbor.ebgp_multihop is None and group is not None:
        hops = group.ttl_security_hops
    return 0 if hops is None else _LARGEST_TTL + 1 - hops
