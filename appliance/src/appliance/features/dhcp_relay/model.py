"""DHCP relays (RFC 1542, RFC 3046). In ``/dhcp_relays``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from appliance.config.host_address import HostAddress
from frr_config.references import VrfReference
from frr_config.types import Description, Model, Name


class DhcpRelay(Model):
    """Relays broadcasts of DHCP clients in one VRF to a server, and the server's answers to the clients.

    Clients are relayed on every interface of the VRF that has an IPv4 address; no tunnel in it may have one.
    The server learns the client's network from the link selection in option 82 (RFC 3527), and must return
    option 82.
    """

    description: Description = Field(default="", title="Description")
    """Shown beside the relay."""
    vrf: VrfReference | None = Field(default=None, title="Clients' VRF")
    """VRF whose clients are relayed, on all its interfaces; unset: the default VRF. A VRF has one relay."""
    server: HostAddress = Field(title="Server", examples=["192.0.2.67"])
    """IPv4 address of the DHCP server. There is one: with several, VPP would send the request that follows an
    offer to the first server, whichever made the offer.
    """
    server_vrf: VrfReference | None = Field(default=None, title="Server's VRF")
    """VRF through which the server is reached; unset: the default VRF."""
    source_address: HostAddress = Field(title="Source address", examples=["192.0.2.1"])
    """Address of this router in the server's VRF: packets to the server are sent from it, and the server
    answers to it (giaddr). It does not identify the client's network.
    """


DhcpRelays = Annotated[
    dict[Name, DhcpRelay], Field(max_length=256, json_schema_extra={"x-noun": "DHCP relay"})
]
"""Relays by name."""
