"""A VLAN as an interface."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from appliance.features.interface.model import LinkSettings
from frr_config.references import InterfaceReference

VlanId = Annotated[int, Field(ge=1, le=4094)]
"""A VLAN (IEEE 802.1Q)."""


class SubInterface(LinkSettings):
    """A VLAN on an ethernet interface (IEEE 802.1Q)."""

    link_fields: ClassVar[tuple[str, ...]] = ("parent", "vlan_id")

    type: Literal["sub_interface"]
    """Kind of interface."""
    parent: InterfaceReference = Field(title="Parent")
    """The ethernet interface it is on."""
    vlan_id: VlanId = Field(title="VLAN")
    """The VLAN that its packets are tagged with on the parent."""

    @property
    def carrier(self) -> str:
        """The parent."""
        return self.parent


KIND = SubInterface
