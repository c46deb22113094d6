"""Where tunnels begin and end. Pure."""

from __future__ import annotations

from ipaddress import ip_address

from appliance.config.document import RouterConfig
from appliance.config.interface_address import address_of
from appliance.features.gre.model import Gre
from frr_config.types import IpAddress

OVERHEAD_BYTES = {4: 24, 6: 44}
"""What a tunnel adds to each packet: an IP header of the version, and 4 bytes of GRE."""


def destination_of(gre: Gre) -> IpAddress:
    """Where the tunnel ends."""
    return ip_address(gre.destination)


def source_of(config: RouterConfig, gre: Gre) -> IpAddress | None:
    """Where it begins; None if the interface it names has no address of the destination's family."""
    if gre.carrier is None:
        return ip_address(gre.source)
    interface = config.interfaces.get(gre.carrier)
    version = destination_of(gre).version
    own = (address_of(one).ip for one in interface.addresses) if interface is not None else ()
    return next((one for one in own if one.version == version), None)
