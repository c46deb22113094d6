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
    """The ethernet interfaces it is made of. They have its MTU and MAC address, and no addresses, access
    lists, VLANs or routing of their own.
    """
    mode: Mode = Field(default="802.3ad", title="Mode")
    """802.3ad speaks LACP with the other end; balance-xor spreads packets without asking it; active-backup
    uses one member at a time.
    """
    lacp_rate: Literal["fast", "slow"] = Field(default="fast", title="LACP rate")
    """How often the other end is asked to send LACP packets in mode 802.3ad: fast is every second, and a
    member is taken out after 3 seconds of silence; slow is every 30, and 90.
    """
    hash_policy: HashPolicy = Field(default="layer3+4", title="Hash policy")
    """What decides by which member a packet is sent in the modes 802.3ad and balance-xor: MAC addresses,
    those and IP addresses, or IP addresses and ports.
    """
    minimum_links: int = Field(default=1, ge=1, le=MAX_MEMBERS, title="Minimum links")
    """Members that have to be active, in mode 802.3ad, for the bond to be up."""
    primary: InterfaceReference | None = Field(default=None, title="Primary member")
    """The member that mode active-backup uses whenever it is up; unset, it stays with the one it has."""
    mac: MacAddress | None = Field(default=None, title="MAC address")
    """Unset means that of the first member's NIC: then another first member is another address."""

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
