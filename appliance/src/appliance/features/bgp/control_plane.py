"""BGP is let in from neighbors that are up. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from appliance.config.document import RouterConfig
from appliance.config.services import Form, Only, Peer, Ports, Service
from frr_config.protocols.bgp.effective import Peer as Effective
from frr_config.protocols.bgp.effective import peers_in

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
    for peer in peers_in(bgp):
        if peer.own.enabled:
            yield Peer("bgp", str(ip_network(peer.address)), _form(peer))


def _form(peer: Effective) -> str:
    _, hops = peer.distance
    return _ANY_TTL if hops is None else str(_LARGEST_TTL + 1 - hops)
