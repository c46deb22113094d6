"""A NIC as an interface."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from appliance.config.nic_match import Match
from appliance.features.interface.model import LinkSettings


class Ethernet(LinkSettings):
    """A NIC of the router."""

    takes_vlans: ClassVar[bool] = True
    link_fields: ClassVar[tuple[str, ...]] = ("match",)

    type: Literal["ethernet"]
    """Kind of interface."""
    match: Match = Field(title="NIC")
    """Which NIC this is."""
    driver: Literal["auto", "native", "dpdk", "af_packet"] = Field(default="auto", title="Driver")
    """Driver that VPP uses for the NIC; auto chooses it from a table by PCI id. NICs are bound at boot: on
    the appliance a change takes effect when the router restarts.
    """

    @property
    def nic(self) -> Match:
        """This one."""
        return self.match


KIND = Ethernet
