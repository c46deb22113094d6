"""An 802.1Q sub-interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump, LinkRow
from appliance.dataplane.linux.objects.base import link_token
from appliance.dataplane.linux.objects.link import Link, marked
from appliance.dataplane.namespace import attributes

_ALIAS = "millrace sub-interface"
_LOOSE = 0x4
"""VLAN_FLAG_LOOSE_BINDING."""


@dataclass(frozen=True)
class VlanLink(Link):
    """An 802.1Q sub-interface."""

    type = "sub_interface"

    name: str
    parent: str
    vlan_id: int
    mtu: int
    enabled: bool

    def label(self) -> str:
        """``sub-interface wan0.10 (VLAN 10 of wan0)``."""
        return f"sub-interface {self.name} (VLAN {self.vlan_id} of {self.parent})"

    def identity(self) -> tuple[object, ...]:
        """Parent and VLAN."""
        return self.parent, self.vlan_id

    def requires(self) -> tuple[str, ...]:
        """The parent."""
        return (self.inside(),)

    def inside(self) -> str:
        """The parent."""
        return link_token(self.parent)

    def occupies(self) -> str:
        """The VLAN of its parent."""
        return f"vlan/{self.parent}/{self.vlan_id}"

    @property
    def parent_and_vlan(self) -> tuple[str, int]:
        """Its parent link, and its VLAN."""
        return self.parent, self.vlan_id

    @classmethod
    def read(cls, row: LinkRow, dump: Dump) -> Self | None:
        """Found by our alias."""
        if row.alias != _ALIAS:
            return None
        data = attributes(attributes(row.known["IFLA_LINKINFO"])["IFLA_INFO_DATA"])
        parent = dump.names.get(row.known.get("IFLA_LINK", 0), "?")
        return cls(row.name, parent, data["IFLA_VLAN_ID"], row.mtu, row.up)

    def make(self, kernel: Access) -> int:
        """Add the device, loosely bound: its state is its own, as in VPP. Otherwise it could not be up on a
        parent that is down, and a parent coming up would bring it up too.
        """
        parent = kernel.index(self.parent)
        if parent is None:
            raise DataPlaneError(f"cannot make {self.name}: there is no link {self.parent}")
        kernel.route.link(
            "add",
            ifname=self.name,
            kind="vlan",
            link=parent,
            vlan_id=self.vlan_id,
            vlan_flags={"flags": _LOOSE, "mask": _LOOSE},
        )
        return marked(self.name, _ALIAS, kernel)
