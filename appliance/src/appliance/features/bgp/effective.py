"""The neighbors of a document, each combined with its peer group."""

from __future__ import annotations

from appliance.config.document import RouterConfig
from frr_config.protocols.bgp.effective import FAMILIES, TITLES, Family, Peer, peer_in, peers_in

__all__ = ["FAMILIES", "TITLES", "Family", "Peer", "peer_of", "peers"]


def peer_of(config: RouterConfig, address: str) -> Peer | None:
    """A neighbor, even one that is shut down."""
    bgp = config.routing.bgp
    return None if bgp is None or address not in bgp.neighbors else peer_in(bgp, address)


def peers(config: RouterConfig) -> dict[str, Peer]:
    """Neighbors that are not shut down, by address."""
    bgp = config.routing.bgp
    return {} if bgp is None else {peer.address: peer for peer in peers_in(bgp) if peer.own.enabled}
