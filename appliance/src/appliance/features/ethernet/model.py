"""A NIC as an interface."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from appliance.config.nic_match import NicMatch
from appliance.features.interface.model import LinkSettings


class Ethernet(LinkSettings):
    """A NIC of the router."""

    takes_vlans: ClassVar[bool] = True
    link_fields: ClassVar[tuple[str, ...]] = ("match",)

    type: Literal["ethernet"]
    """Kind of interface."""
    match: NicMatch = Field(title="NIC")
    """Which NIC this is."""
    driver: Literal["auto", "native", "dpdk", "af_packet"] = Field(default="auto", title="Driver")
    """Driver that VPP uses for the NIC; auto chooses it from a table by PCI id. NICs are bound at boot: on
    the appliance a change takes effect when the router restarts.
    """

    @property
    def nic(self) -> NicMatch:
        """This one."""
        return self.match


KIND = Ethernet
