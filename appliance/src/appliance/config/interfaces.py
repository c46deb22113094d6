"""Interfaces, keyed by name in ``/interfaces``."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_interface
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from appliance.config.acl import AclReference
from frr_config.references import InterfaceReference
from frr_config.types import Description, InterfaceName, Model, Prefix


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

MacAddress = Annotated[
    str,
    StringConstraints(pattern=r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$", to_lower=True),
    Field(examples=["52:54:00:00:00:01"]),
]
"""An EUI-48 address, six octets with colons."""

PciAddress = Annotated[
    str, StringConstraints(pattern=r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$", to_lower=True)
]
"""A PCI address with its domain, such as ``0000:0b:00.0``."""

DeviceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9._-]{0,14}$")]
"""Name of a Linux network device."""

VlanId = Annotated[int, Field(ge=1, le=4094)]
"""A VLAN (IEEE 802.1Q)."""


ManagementService = Literal["ssh", "https"]
"""A service by which the router is managed."""


class Match(Model):
    """Which NIC an ethernet interface is: exactly one of these."""

    mac: MacAddress | None = Field(default=None, title="MAC address")
    """The NIC's permanent MAC address."""
    pci: PciAddress | None = Field(default=None, title="PCI address")
    """The NIC's PCI address."""
    device: DeviceName | None = Field(default=None, title="Device")
    """The NIC's Linux name."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(value is not None for value in (self.mac, self.pci, self.device)) != 1:
            raise ValueError("give exactly one of mac, pci and device")
        return self


class InterfaceSettings(Model):
    """What every interface has."""

    description: Description = Field(default="", title="Description")
    """Shown beside the interface."""
    enabled: bool = Field(default=True, title="Enabled")
    """Administratively up."""
    mtu: int = Field(default=1500, ge=1280, le=9216, title="MTU", json_schema_extra={"unit": "bytes"})
    """Largest IP packet, in bytes, without the Ethernet header."""
    addresses: tuple[InterfaceAddress, ...] = Field(default=(), max_length=64, title="Addresses")
    """IPv4 and IPv6 addresses."""
    acl_in: tuple[AclReference, ...] = Field(default=(), max_length=8, title="ACLs in")
    """Access lists for received packets, looked at in this order."""
    acl_out: tuple[AclReference, ...] = Field(default=(), max_length=8, title="ACLs out")
    """Access lists for sent packets, looked at in this order."""

    @property
    def carrier(self) -> str | None:
        """Name of the interface that this one is on, and goes with."""
        return None

    @property
    def link(self) -> LinkSettings | None:
        """Its settings where packets come in by it; else None."""
        return None

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for name in ("addresses", "acl_in", "acl_out"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ValueError(f"{name} names one twice")
        return self


class LinkSettings(InterfaceSettings):
    """What every interface has that packets come in by."""

    management_services: tuple[ManagementService, ...] = Field(default=(), title="Management services")
    """Services of the router that packets received here may reach. Nothing else opens them on a data
    interface; they answer only where a server listens in the router's own network namespace.
    """
    management_sources: tuple[Prefix, ...] = Field(default=(), max_length=64, title="Management sources")
    """Prefixes the management services are open to; empty means any."""

    @property
    def link(self) -> LinkSettings:
        """These."""
        return self

    @model_validator(mode="after")
    def _sources_of_services(self) -> Self:
        for name in ("management_services", "management_sources"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ValueError(f"{name} names one twice")
        if self.management_sources and not self.management_services:
            raise ValueError("management_sources needs management_services")
        return self


class Ethernet(LinkSettings):
    """A NIC of the router."""

    type: Literal["ethernet"]
    """Kind of interface."""
    match: Match = Field(title="NIC")
    """Which NIC this is."""
    driver: Literal["auto", "native", "dpdk", "af_packet"] = Field(default="auto", title="Driver")
    """How VPP drives the NIC; auto decides from a table by PCI id. NICs are bound at boot: on the appliance a
    change takes effect when the router restarts.
    """


class SubInterface(LinkSettings):
    """A VLAN on an ethernet interface (IEEE 802.1Q)."""

    type: Literal["sub_interface"]
    """Kind of interface."""
    parent: InterfaceReference = Field(title="Parent")
    """The ethernet interface it is on."""
    vlan_id: VlanId = Field(title="VLAN")
    """The VLAN, 1 to 4094."""

    @property
    def carrier(self) -> str:
        """The parent."""
        return self.parent


class Loopback(InterfaceSettings):
    """A virtual interface that is always up."""

    type: Literal["loopback"]
    """Kind of interface."""


Interface = Annotated[Ethernet | SubInterface | Loopback, Field(discriminator="type")]
"""Any interface; ``type`` says which."""

__all__ = ["Ethernet", "Interface", "InterfaceName", "LinkSettings", "Loopback", "Match", "SubInterface"]
