"""A NIC that carries the document's name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump, LinkRow
from appliance.dataplane.linux.objects.link import Link
from appliance.dataplane.namespace import read_sysctl, write_sysctl
from appliance.dataplane.nics import ALIAS, own_name


@dataclass(frozen=True)
class EthernetLink(Link):
    """A NIC that carries the document's name. ``device`` is its own name."""

    type = "ethernet"

    name: str
    device: str
    mtu: int
    enabled: bool

    def label(self) -> str:
        """``interface wan0 on eth1``."""
        return f"interface {self.name} on {self.device}"

    def identity(self) -> tuple[object, ...]:
        """The NIC."""
        return (self.device,)

    @property
    def nic(self) -> str:
        """The NIC's own name."""
        return self.device

    @classmethod
    def read(cls, row: LinkRow, dump: Dump) -> Self | None:
        """Found by the alias of a renamed NIC."""
        return cls(row.name, own_name(row.known), row.mtu, row.up) if row.alias.startswith(ALIAS) else None

    def make(self, kernel: Access) -> int:
        """Bring the NIC here, down, renamed and without addresses."""
        kernel.take(self.device)
        index = kernel.index(self.device)
        if index is None:
            raise DataPlaneError(f"cannot make {self.name}: there is no NIC {self.device}")
        kernel.route.link("set", index=index, state="down")
        kernel.route.link("set", index=index, ifalias=f"{ALIAS}{self.device}")
        if self.device != self.name:
            kernel.route.link("set", index=index, ifname=self.name)
        kernel.route.flush_addr(index=index)
        # The namespace's defaults do not apply to a NIC that was there before they were set.
        for setting in (f"net/ipv4/conf/{self.name}/rp_filter", f"net/ipv6/conf/{self.name}/accept_dad"):
            if read_sysctl(setting) is not None:
                write_sysctl(setting, "0")
        return index

    def remove(self, index: int, kernel: Access) -> None:
        """Give the NIC back, down, under its own name and without addresses."""
        kernel.route.flush_addr(index=index)
        kernel.route.link("set", index=index, state="down")
        if self.device != self.name:
            kernel.route.link("set", index=index, ifname=self.device)
        kernel.route.link("set", index=index, ifalias="")
        kernel.give_back(self.device)
