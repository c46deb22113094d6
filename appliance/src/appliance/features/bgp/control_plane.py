"""BGP is let in from neighbors that are up. Pure."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

from appliance.config.document import RouterConfig
from appliance.dataplane.control_plane.policy import BgpPeer
from frr_config.protocols.bgp.model import Bgp

_LARGEST_TTL = 255


def opens(config: RouterConfig) -> dict[str, Any]:
    """The peers."""
    bgp = config.routing.bgp
    return {} if bgp is None else {"bgp": _peers(bgp)}


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
