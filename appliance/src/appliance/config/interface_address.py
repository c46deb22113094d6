"""The address of an interface."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, ip_interface
from typing import Annotated

from pydantic import AfterValidator, Field


def _unusable(address: IPv4Address | IPv6Address) -> bool:
    if address.is_multicast or address.is_unspecified or address.is_loopback:
        return True
    if isinstance(address, IPv6Address):
        return address.ipv4_mapped is not None or address.scope_id is not None
    return address in IPv4Network("0.0.0.0/8") or address == IPv4Address("255.255.255.255")


def _canonical_interface_address(value: str) -> str:
    if "/" not in value:
        raise ValueError("needs a prefix length, such as 192.0.2.1/24")
    try:
        address = ip_interface(value)
    except ValueError as error:
        raise ValueError(f"{value!r} is not an address with a prefix length: {error}") from None
    if _unusable(address.ip):
        raise ValueError(f"{address.ip} cannot be the address of an interface")
    if address.version == 6 and address.ip.is_link_local:
        raise ValueError("link-local addresses are made by the router itself")
    network = address.network
    if (
        address.version == 4
        and network.prefixlen < 31
        and address.ip in (network.network_address, network.broadcast_address)
    ):
        raise ValueError(f"{address.ip} is the network or broadcast address of {network}")
    return str(address)


InterfaceAddress = Annotated[
    str,
    AfterValidator(_canonical_interface_address),
    Field(examples=["192.0.2.1/24", "2001:db8::1/64"], max_length=49),
]
"""An address with its prefix length."""
IpInterface = IPv4Interface | IPv6Interface


@lru_cache(maxsize=1 << 14)  # every commit parses all of them, and their texts are the same
def address_of(text: InterfaceAddress) -> IpInterface:
    """An interface's address with its network. Raises ValueError."""
    return ip_interface(text)
