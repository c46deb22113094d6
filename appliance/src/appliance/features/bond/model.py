"""A bond as an interface."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from appliance.config.nic_match import MacAddress
from appliance.features.interface.model import LinkSettings
from frr_config.references import InterfaceReference

Mode = Literal["802.3ad", "active-backup", "balance-xor"]
HashPolicy = Literal["layer2", "layer2+3", "layer3+4"]
MAX_MEMBERS = 16


class Bond(LinkSettings):
    """Several ethernet interfaces that act as one (IEEE 802.1AX)."""

    takes_vlans: ClassVar[bool] = True
    link_fields: ClassVar[tuple[str, ...]] = ("members",)
    agreed_fields: ClassVar[tuple[str, ...]] = ("mode",)

    type: Literal["bond"]
    """Kind of interface."""
    members: tuple[InterfaceReference, ...] = Field(min_length=1, max_length=MAX_MEMBERS, title="Members")
    """Ethernet interfaces that form the bond. They have its MTU and MAC address, and no addresses, access
    lists, VLANs or routing of their own.
    """
    mode: Mode = Field(default="802.3ad", title="Mode")
    """802.3ad runs LACP with the other end; balance-xor spreads packets without negotiation; active-backup
    uses one member at a time.
    """
    lacp_rate: Literal["fast", "slow"] = Field(default="fast", title="LACP rate")
    """Rate at which the other end is asked to send LACP packets in mode 802.3ad. With fast, it sends one
    every second, and a member is taken out of use after 3 seconds of silence. With slow, it sends one every
    30 seconds, and a member is taken out after 90.
    """
    hash_policy: HashPolicy = Field(default="layer3+4", title="Hash policy")
    """Fields of a packet that select the member it is sent on, in the modes 802.3ad and balance-xor: MAC
    addresses, MAC and IP addresses, or IP addresses and ports.
    """
    minimum_links: int = Field(default=1, ge=1, le=MAX_MEMBERS, title="Minimum links")
    """Number of members that must be active for the bond to be up, in mode 802.3ad."""
    primary: InterfaceReference | None = Field(default=None, title="Primary member")
    """Member that mode active-backup uses whenever that member is up; unset, the bond stays with its current
    member.
    """
    mac: MacAddress | None = Field(default=None, title="MAC address")
    """Unset means the address of the first member's NIC: it changes when another member becomes the first."""

    @property
    def made_of(self) -> tuple[str, ...]:
        """The members."""
        return self.members

    @property
    def parts_needed(self) -> int:
        """Those without which it is down."""
        return self.minimum_links

    @property
    def given_mac(self) -> str | None:
        """The one that is set."""
        return self.mac


KIND = Bond
