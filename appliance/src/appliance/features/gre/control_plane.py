"""GRE is let in from the other ends of tunnels. Pure."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

from appliance.config.document import RouterConfig
from appliance.config.ip_protocols import PROTOCOLS
from appliance.dataplane.control_plane.policy import TunnelEnd
from appliance.features.gre.ends import destination_of
from appliance.features.gre.model import Gre


def opens(config: RouterConfig) -> dict[str, Any]:
    """Where the tunnels end. VPP takes GRE itself, before anything is let in; the kernel does not."""
    ends = {str(ip_network(destination_of(gre))) for _, gre in config.interfaces_of(Gre)}
    return {"tunnels": tuple(TunnelEnd(end, PROTOCOLS["gre"]) for end in sorted(ends))}
