"""What tunnels carry is let in from their other ends. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from appliance.config.document import RouterConfig
from appliance.config.services import Peer
from appliance.features.tunnels.ends import destination_of
from appliance.features.tunnels.model import Tunnel


def opens(config: RouterConfig) -> Iterator[Peer]:
    """Where the tunnels end. VPP takes their packets itself, before anything is let in."""
    for _, tunnel in config.interfaces_of(Tunnel):
        for protocol in tunnel.protocols:
            yield Peer("tunnel", str(ip_network(destination_of(tunnel))), str(protocol))
