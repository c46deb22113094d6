"""GRE is let in from the other ends of tunnels. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from appliance.config.document import RouterConfig
from appliance.config.ip_protocols import PROTOCOLS
from appliance.config.services import Peer
from appliance.features.gre.ends import destination_of
from appliance.features.gre.model import Gre


def opens(config: RouterConfig) -> Iterator[Peer]:
    """Where the tunnels end. VPP takes GRE itself, before anything is let in; the kernel does not."""
    for _, gre in config.interfaces_of(Gre):
        yield Peer("tunnel", str(ip_network(destination_of(gre))), str(PROTOCOLS["gre"]))
