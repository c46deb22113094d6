"""A VRF: a device whose links look their packets up in a table of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from appliance.config.pointer import escape
from appliance.dataplane.linux.access import Access, saying
from appliance.dataplane.linux.dump import Dump, LinkRow
from appliance.dataplane.linux.objects.base import LinuxObject
from appliance.dataplane.linux.objects.link import marked
from appliance.dataplane.linux.policy_rules import end_of_table, local_after_vrfs
from appliance.dataplane.namespace import attributes

_ALIAS = "millrace vrf"


def vrf_token(name: str) -> str:
    """The token a VRF provides to the links in it."""
    return f"vrf/{name}"


@dataclass(frozen=True)
class VrfDevice(LinuxObject):
    """The device ``name`` with routing table ``table``. It is always up: it carries no packets of others."""

    name: str
    table: int

    @property
    def key(self) -> str:
        """``vrf/<name>``."""
        return vrf_token(self.name)

    @property
    def path(self) -> str:
        """The VRF."""
        return f"/vrfs/{escape(self.name)}"

    def label(self) -> str:
        """``VRF blue with table 10``."""
        return f"VRF {self.name} with table {self.table}"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """Found by our alias."""
        for row in dump.ours.values():
            if is_vrf(row):
                data = attributes(attributes(row.known["IFLA_LINKINFO"])["IFLA_INFO_DATA"])
                yield cls(row.name, int(data["IFLA_VRF_TABLE"]))

    def create(self, kernel: Access) -> None:
        """Add the device, unless it exists, and ensure that VRF rules are looked up before all others."""
        index = kernel.index(self.name)
        with saying(f"make {self.label()}"):
            if index is None:
                kernel.route.link("add", ifname=self.name, kind="vrf", vrf_table=self.table)
                index = marked(self.name, _ALIAS, kernel)
            end_of_table(kernel.route, self.table, wanted=True)
            kernel.route.link("set", index=index, state="up")
            local_after_vrfs(kernel.route)

    def update(self, before: Self, kernel: Access) -> None:
        """Nothing can change in place: another table is another device."""

    def delete(self, kernel: Access) -> None:
        """Remove it; no error if it is gone."""
        index = kernel.index(self.name)
        if index is not None:
            with saying(f"remove {self.label()}"):
                kernel.route.link("del", index=index)
                end_of_table(kernel.route, self.table, wanted=False)


def is_vrf(row: LinkRow) -> bool:
    """Whether this link is a VRF's device that this program made."""
    return row.alias == _ALIAS
