"""A link in a VRF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from appliance.config.pointer import escape
from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.linux.access import Access, saying
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects.base import LinuxObject, link_token
from appliance.dataplane.linux.objects.vrf_device import is_vrf, vrf_token
from planner import Declared


def member_token(interface: str) -> str:
    """The token that membership in a VRF provides to the link's addresses."""
    return f"vrf_member/{interface}"


@dataclass(frozen=True)
class VrfMember(LinuxObject):
    """Link ``interface`` is in ``vrf``. The kernel takes the link down and up as it goes in or out."""

    vrf: str
    interface: str

    @property
    def key(self) -> str:
        """``vrf_member/<interface>``."""
        return member_token(self.interface)

    @property
    def path(self) -> str:
        """The interface's VRF."""
        return f"/interfaces/{escape(self.interface)}/vrf"

    def label(self) -> str:
        """``interface lan0 in VRF blue``."""
        return f"interface {self.interface} in VRF {self.vrf}"

    def requires(self) -> tuple[str, ...]:
        """The VRF."""
        return (vrf_token(self.vrf),)

    def follows(self, beside: Mapping[str, Declared]) -> tuple[str, ...]:
        """The link, if it is an object of the same plan: a mirror is not."""
        return (link_token(self.interface),)

    def removal_impact(self) -> str:
        """Its packets are looked up in another table."""
        return f"loses packets on {self.interface}"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """The links that are in one of our VRFs."""
        for row in dump.links:
            master = dump.ours.get(row.known.get("IFLA_MASTER", 0))
            if master is not None and is_vrf(master):
                yield cls(master.name, row.name)

    def create(self, kernel: Access) -> None:
        """Put it in."""
        index, vrf = kernel.index(self.interface), kernel.index(self.vrf)
        if index is None or vrf is None:
            missing = self.interface if index is None else self.vrf
            raise DataPlaneError(f"cannot put {self.label()}: there is no link {missing}")
        with saying(f"put {self.label()}"):
            kernel.route.link("set", index=index, master=vrf)

    def update(self, before: Self, kernel: Access) -> None:
        """Nothing can change in place: another VRF is another membership."""

    def delete(self, kernel: Access) -> None:
        """Take it out; no error if the link is gone."""
        index = kernel.index(self.interface)
        if index is not None:
            with saying(f"take {self.label()} out of it"):
                kernel.route.link("set", index=index, master=0)
