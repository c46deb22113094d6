"""Where tunnels begin and end. Pure."""

from __future__ import annotations

from ipaddress import ip_address

from appliance.config.document import RouterConfig
from appliance.config.interface_address import address_of
from appliance.features.tunnels.model import Tunnel
from frr_config.types import IpAddress


def destination_of(tunnel: Tunnel) -> IpAddress:
    """Where the tunnel ends."""
    return ip_address(tunnel.destination)


def source_of(config: RouterConfig, tunnel: Tunnel) -> IpAddress | None:
    """Where it begins; None if the interface it names has no address of the destination's family."""
    if tunnel.carrier is None:
        return ip_address(tunnel.source)
    interface = config.interfaces.get(tunnel.carrier)
    version = destination_of(tunnel).version
    own = (address_of(one).ip for one in interface.addresses) if interface is not None else ()
    return next((one for one in own if one.version == version), None)
