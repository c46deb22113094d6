"""DHCP relays (RFC 1542, RFC 3046). In ``/dhcp_relays``."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated

from pydantic import AfterValidator, Field

from frr_config.references import VrfReference
from frr_config.types import Description, Model, Name

_LAST_OF_NO_NETWORK = 0x00FFFFFF
_FIRST_RESERVED = 0xF0000000


def _usable(text: str) -> str:
    try:
        address = IPv4Address(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not an IPv4 address") from None
    number = int(address)
    if (
        address.is_multicast
        or address.is_loopback
        or number <= _LAST_OF_NO_NETWORK
        or number >= _FIRST_RESERVED
    ):
        raise ValueError(f"{address} cannot be the address of a host")
    return str(address)


_HostAddress = Annotated[str, AfterValidator(_usable), Field(max_length=15, min_length=7)]


class DhcpRelay(Model):
    """Relays what DHCP clients of one VRF broadcast to a server, and its answers to the clients.

    Clients on any interface of the VRF that has an IPv4 address are relayed; a tunnel there may have none.
    The server is told the client's network by the link selection of option 82 (RFC 3527), and has to return
    option 82.
    """

    description: Description = Field(default="", title="Description")
    """Shown beside the relay."""
    vrf: VrfReference | None = Field(default=None, title="Clients' VRF")
    """VRF whose clients are relayed, on all its interfaces; unset: the default one. Each has one relay."""
    server: _HostAddress = Field(title="Server", examples=["192.0.2.67"])
    """IPv4 address of the DHCP server. VPP relays to one: of several it would send the request that follows
    an offer to the first, whoever made the offer.
    """
    server_vrf: VrfReference | None = Field(default=None, title="Server's VRF")
    """VRF by which the server is reached; unset: the default one."""
    source_address: _HostAddress = Field(title="Source address", examples=["192.0.2.1"])
    """The router's own address in the server's VRF that packets to the server come from, and that its answers
    go to (giaddr). It does not say which network the client is in.
    """


DhcpRelays = Annotated[
    dict[Name, DhcpRelay], Field(max_length=256, json_schema_extra={"x-noun": "DHCP relay"})
]
"""Relays by name."""
