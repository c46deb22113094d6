"""What interfaces have in common, whatever their kind. They are keyed by name in ``/interfaces``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, model_validator

from appliance.config.acl_name import AclReference
from appliance.config.interface_address import InterfaceAddress
from appliance.config.nic_match import NicMatch
from frr_config.references import VrfReference
from frr_config.types import Description, Model, Prefix

ManagementService = Literal["ssh", "https"]
"""A service by which the router is managed."""


class InterfaceSettings(Model):
    """What every interface has."""

    takes_vlans: ClassVar[bool] = False
    """Whether a sub-interface can be on an interface of this kind."""
    is_ethernet: ClassVar[bool] = True
    """Whether its packets are Ethernet frames. The mirror of one without is a tun device."""
    link_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that say which link it is: whose hosts are reached by it."""
    agreed_fields: ClassVar[tuple[str, ...]] = ()
    """Fields to which the other end of the link has to be set likewise."""

    if TYPE_CHECKING:
        type: str
        """Kind of interface. Each kind declares the field, with its own name as the only value."""

    description: Description = Field(default="", title="Description")
    """Shown beside the interface."""
    enabled: bool = Field(default=True, title="Enabled")
    """Administratively up."""
    vrf: VrfReference | None = Field(default=None, title="VRF")
    """VRF of the interface; unset means the default VRF. A change removes the interface's addresses and adds
    them again.
    """
    mtu: int = Field(default=1500, ge=1280, le=9216, title="MTU", json_schema_extra={"unit": "bytes"})
    """Largest IP packet, in bytes, without the Ethernet header."""
    addresses: tuple[InterfaceAddress, ...] = Field(default=(), max_length=64, title="Addresses")
    """IPv4 and IPv6 addresses."""
    acl_in: tuple[AclReference, ...] = Field(default=(), max_length=8, title="ACLs in")
    """Access lists for received packets, evaluated in this order."""
    acl_out: tuple[AclReference, ...] = Field(default=(), max_length=8, title="ACLs out")
    """Access lists for sent packets, evaluated in this order."""

    @property
    def carrier(self) -> str | None:
        """Name of the interface that this one is on, and goes with."""
        return None

    @property
    def beneath(self) -> tuple[str, ...]:
        """Names of the interfaces that its packets pass next, without those beneath them."""
        return self.made_of if self.carrier is None else (self.carrier,)

    @property
    def made_of(self) -> tuple[str, ...]:
        """Names of the interfaces that it is made of. They pass packets for it alone, with its MTU and MAC
        address, and have no addresses, access lists or routing of their own.
        """
        return ()

    @property
    def parts_needed(self) -> int:
        """Of what it is made of, how many have to have a link for it to have one."""
        return 1

    @property
    def given_mac(self) -> str | None:
        """The MAC address the document gives it; None: that of its NIC, or of the first it is made of."""
        return None

    @property
    def nic(self) -> NicMatch | None:
        """The NIC it is, where it is one."""
        return None

    @property
    def link(self) -> LinkSettings | None:
        """Its settings where packets come in by it; else None."""
        return None

    @property
    def kind_words(self) -> str:
        """Its kind in a sentence: ``sub-interface``."""
        return str(getattr(self, "type", "interface")).replace("_", "-")

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for name in ("addresses", "acl_in", "acl_out"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ValueError(f"{name} has a duplicate entry")
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
                raise ValueError(f"{name} has a duplicate entry")
        if self.management_sources and not self.management_services:
            raise ValueError("management_sources needs management_services")
        return self
