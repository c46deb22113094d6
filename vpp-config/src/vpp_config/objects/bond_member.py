"""A NIC as a member of a bond."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from planner import Declared
from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import Dumps, InterfaceRow
from vpp_config.objects.base import Interface, VppObject
from vpp_config.objects.bond import number_of
from vpp_config.tokens import interface_token


@dataclass(frozen=True)
class BondMember(VppObject):
    """Interface ``interface`` is a member of ``bond``, and has the bond's MAC address before it becomes one:
    VPP would give it that address, and not tell its own.

    ``long_timeout``: LACP declares the neighbor gone after 90 seconds, otherwise after 3. ``weight`` applies
    to mode active_backup, which uses the member with the greatest weight among those that are up.
    """

    kind = "bond_member"
    gone: ClassVar = {"bond_detach_member": frozenset({-2, -71})}

    bond: str
    interface: str
    long_timeout: bool = False
    weight: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.weight < 2**32:
            raise ValueError("weight is outside 0..4294967295")

    @property
    def key(self) -> str:
        """``bond_member/<interface>``: an interface is a member of one bond at most."""
        return f"bond_member/{self.interface}"

    def label(self) -> str:
        """``interface lan0 in bond bond0``."""
        return f"interface {self.interface} in bond {self.bond}"

    def requires(self) -> tuple[str, ...]:
        """Both interfaces."""
        return (interface_token(self.bond), interface_token(self.interface))

    def problems(self, beside: Mapping[str, Declared]) -> Iterable[str]:
        """The address of the member is the bond's."""
        bond, member = beside[interface_token(self.bond)], beside[interface_token(self.interface)]
        assert isinstance(bond, Interface)
        assert isinstance(member, Interface)
        if getattr(bond, "mac", None) != getattr(member, "mac", None):
            yield f"{self.label()} needs the MAC address of the bond"

    def needs_recreate(self, before: BondMember) -> bool:
        """Another bond or timeout."""
        return (before.bond, before.long_timeout) != (self.bond, self.long_timeout)

    def removal_impact(self) -> str:
        """Packets that the neighbor still sends over this member are lost until it notices."""
        return f"loses packets on {self.bond}"

    def update_impact(self, before: BondMember) -> str:
        """Another member may take over."""
        return f"loses packets on {self.bond}"

    def describe_update(self, before: BondMember) -> str:
        """``set the weight of interface lan0 in bond bond0 to 100``."""
        return f"set the weight of {self.label()} to {self.weight}"

    def create(self, vpp: Access) -> None:
        """Add it to the bond."""
        index = vpp.index_of(self.interface)
        vpp.call(
            "bond_add_member",
            sw_if_index=index,
            bond_sw_if_index=vpp.index_of(self.bond),
            is_passive=False,
            is_long_timeout=self.long_timeout,
        )
        vpp.remember(self.provides, index)
        if self.weight:
            self._weigh(vpp)

    def update(self, before: BondMember, vpp: Access) -> None:
        """The weight in place."""
        self._weigh(vpp)

    def _weigh(self, vpp: Access) -> None:
        index = vpp.index_of(self.interface)
        vpp.call("sw_interface_set_bond_weight", sw_if_index=index, weight=self.weight)

    def delete(self, vpp: Access) -> None:
        """Take it out of the bond."""
        vpp.call("bond_detach_member", sw_if_index=vpp.index_of(self.interface))
        vpp.forget(self.provides)

    def index_in(self, dumps: Dumps) -> int | None:
        """The member's own."""
        return dumps.indexes.get(self.interface)

    @classmethod
    def of_interface(cls, row: InterfaceRow) -> tuple[Request, ...]:
        """The members of a bond."""
        if number_of(row.vpp_name) is None:
            return ()
        return (request("sw_member_interface_dump", sw_if_index=row.index),)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[BondMember]:
        """Those of our interfaces in our bonds."""
        for row in dumps.tagged_interfaces():
            for asked in cls.of_interface(row):
                for reply in dumps.table(asked):
                    name = dumps.names.get(reply.sw_if_index)
                    if name is not None:
                        yield cls(row.name, name, bool(reply.is_long_timeout), int(reply.weight))
