"""A NIC as a member of a bond."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from appliance.config.pointer import escape
from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.linux.access import Access, saying
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects.base import LinuxObject, link_token
from appliance.dataplane.linux.objects.bond_link import ALIAS
from appliance.dataplane.namespace import attributes

_UP = 1


@dataclass(frozen=True)
class BondMember(LinuxObject):
    """Link ``interface`` is a member of ``bond``. The kernel gives it the bond's MTU and MAC address, and its
    own back afterwards.
    """

    bond: str
    interface: str
    primary: bool = False

    @property
    def key(self) -> str:
        """``bond_member/<interface>``."""
        return f"bond_member/{self.interface}"

    @property
    def path(self) -> str:
        """The bond's members."""
        return f"/interfaces/{escape(self.bond)}/members"

    def label(self) -> str:
        """``interface lan0 in bond bond0``."""
        return f"interface {self.interface} in bond {self.bond}"

    def requires(self) -> tuple[str, ...]:
        """Both links."""
        return (link_token(self.bond), link_token(self.interface))

    def needs_recreate(self, before: Self) -> bool:
        """Another bond."""
        return self.bond != before.bond

    def removal_impact(self) -> str:
        """Packets that the neighbor still sends on this member are lost until it notices."""
        return f"loses packets on {self.bond}"

    def update_impact(self, before: Self) -> str:
        """Another member may take over."""
        return f"loses packets on {self.bond}"

    def describe_update(self, before: Self) -> str:
        """``make interface lan0 in bond bond0 the primary member``."""
        return f"make {self.label()} {'the primary' if self.primary else 'an ordinary'} member"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """Those of our links that are in one of ours."""
        for row in dump.ours.values():
            bond = dump.ours.get(row.known.get("IFLA_MASTER", 0))
            if bond is not None and bond.alias == ALIAS:
                yield cls(bond.name, row.name, _primary(bond.known) == row.index)

    def create(self, kernel: Access) -> None:
        """Put it into the bond: it must be down for that, comes up by it, and then regains its old state."""
        index, bond = self._indexes(kernel)
        known, was_up = _seen(index, kernel)
        with saying(f"make {self.interface} a member of {self.bond}"):
            if known.get("IFLA_MASTER") != bond:
                kernel.route.link("set", index=index, state="down")
                kernel.route.flush_addr(index=index)
                kernel.route.link("set", index=index, master=bond)
                kernel.route.link("set", index=index, state="up" if was_up else "down")
            if self.primary:
                kernel.route.link("set", index=bond, kind="bond", bond_primary=index)

    def update(self, before: Self, kernel: Access) -> None:
        """The primary member; one already replaced by another does not count."""
        index, bond = self._indexes(kernel)
        with saying(f"change {self.label()}"):
            if self.primary:
                kernel.route.link("set", index=bond, kind="bond", bond_primary=index)
            elif _primary(_seen(bond, kernel)[0]) == index:
                kernel.route.link("set", index=bond, kind="bond", bond_primary=0)

    def delete(self, kernel: Access) -> None:
        """Take it out. The kernel leaves it down, with its former MTU: its present settings are restored."""
        index = kernel.index(self.interface)
        if index is None:
            return
        known, was_up = _seen(index, kernel)
        if not known.get("IFLA_MASTER"):
            return
        with saying(f"take {self.interface} out of {self.bond}"):
            kernel.route.link("set", index=index, master=0)
            kernel.route.link("set", index=index, mtu=known["IFLA_MTU"])
            if was_up:
                kernel.route.link("set", index=index, state="up")

    def _indexes(self, kernel: Access) -> tuple[int, int]:
        """The indexes of the member and of the bond."""
        found = tuple(kernel.index(name) for name in (self.interface, self.bond))
        index, bond = found
        if index is None or bond is None:
            missing = self.interface if index is None else self.bond
            raise DataPlaneError(f"cannot change {self.label()}: there is no link {missing}")
        return index, bond


def _seen(index: int, kernel: Access) -> tuple[Mapping[str, Any], bool]:
    """A link's attributes, and whether it is up."""
    message = next(iter(kernel.route.get_links(index)))
    return attributes(message), bool(message["flags"] & _UP)


def _primary(known: Mapping[str, Any]) -> int | None:
    data = attributes(attributes(known["IFLA_LINKINFO"]).get("IFLA_INFO_DATA") or {"attrs": ()})
    return data.get("IFLA_BOND_PRIMARY")
