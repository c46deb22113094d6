"""BGP is let in from neighbors that are up. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from appliance.config.document import RouterConfig
from appliance.config.services import Form, Only, Peer, Ports, Service
from frr_config.protocols.bgp.model import Bgp

_LARGEST_TTL = 255
_ANY_TTL = "0"
_FROM_NEAR = {
    str(ttl): Form((Only(least_ttl=ttl),), detail=f"with TTL {ttl} or more")
    for ttl in range(1, _LARGEST_TTL + 1)
}
"""By the TTL that packets must have at least (GTSM, RFC 5082)."""

SERVICES = (
    Service("bgp", "BGP", (Ports("tcp", (179,), answers=True),), forms={_ANY_TTL: Form(), **_FROM_NEAR}),
)


def opens(config: RouterConfig) -> Iterator[Peer]:
    """The neighbors."""
    bgp = config.routing.bgp
    if bgp is None:
        return
    for address, neighbor in bgp.neighbors.items():
        if neighbor.enabled:
            yield Peer("bgp", str(ip_network(address)), _form(bgp, address))


def _form(bgp: Bgp, address: str) -> str:
    """The neighbor's own distance counts, then its group's; the two settings of it exclude each other."""
    neighbor = bgp.neighbors[address]
    group = bgp.peer_groups.get(neighbor.peer_group) if neighbor.peer_group is not None else None
    hops = neighbor.ttl_security_hops
    if hops is None and neighbor.ebgp_multihop is None and group is not None:
        hops = group.ttl_security_hops
    return _ANY_TTL if hops is None else str(_LARGEST_TTL + 1 - hops)
