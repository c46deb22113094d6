"""A dot1q sub-interface: one VLAN of an Ethernet interface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from planner import Declared
from vpp_config.access import Access
from vpp_config.dumps import Dumps, InterfaceRow
from vpp_config.leftover import Leftover
from vpp_config.objects.base import Interface, check_name
from vpp_config.objects.link import change, settle
from vpp_config.tokens import interface_token


def _vlan_token(parent: str, vlan_id: int) -> str:
    return f"vlan/{parent}/{vlan_id}"


@dataclass(frozen=True)
class SubInterface(Interface):
    """IEEE 802.1Q VLAN ``vlan_id`` (1..4094) of interface ``parent``. ``mtu`` is at most the parent's.

    It cannot be up while its parent is down; it is then planned as if it were disabled.
    """

    kind = "sub_interface"
    clears = ("vlan",)
    gone: ClassVar = {"delete_subif": frozenset({-2})}

    name: str
    parent: str
    vlan_id: int
    mtu: int = 1500
    enabled: bool = True

    def __post_init__(self) -> None:
        check_name(self.name)
        if not 1 <= self.vlan_id <= 4094:
            raise ValueError("vlan_id is outside 1..4094")

    def requires(self) -> tuple[str, ...]:
        """The parent."""
        return (self.inside(),)

    def inside(self) -> str:
        """The Ethernet interface that carries the VLAN."""
        return interface_token(self.parent)

    def occupies(self) -> str:
        """The VLAN of its parent."""
        return _vlan_token(self.parent, self.vlan_id)

    def problems(self, beside: Mapping[str, Declared]) -> Iterable[str]:
        """The parent supports VLANs, and packets at least as large."""
        parent = beside[self.inside()]
        assert isinstance(parent, Interface)
        if not parent.takes_vlans:
            yield f"{self.label()} needs an Ethernet interface as parent, not {parent.label()}"
        if self.mtu > parent.mtu:
            yield f"the MTU of {self.label()} ({self.mtu}) is above its parent's ({parent.mtu})"

    def needs_recreate(self, before: SubInterface) -> bool:
        """Another parent or VLAN."""
        return (before.parent, before.vlan_id) != (self.parent, self.vlan_id)

    def create(self, vpp: Access) -> None:
        """Create (exact match on one tag), tag, set the MTU."""
        reply = vpp.call("create_vlan_subif", sw_if_index=vpp.index_of(self.parent), vlan_id=self.vlan_id)
        settle(vpp, self, int(reply.sw_if_index))

    def update(self, before: SubInterface, vpp: Access) -> None:
        """MTU and state in place."""
        change(vpp, self, before)

    def delete(self, vpp: Access) -> None:
        """Remove the sub-interface."""
        vpp.call("delete_subif", sw_if_index=vpp.index_of(self.name))
        vpp.forget(self.provides)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[SubInterface]:
        """Our tagged sub-interfaces of our interfaces."""
        for row in dumps.tagged_interfaces():
            parent = dumps.names.get(row.parent_index)
            if row.parent_index != row.index and parent is not None and row.vlan_id:
                yield cls(row.name, parent, row.vlan_id, row.l3_mtu, row.up)

    @classmethod
    def occupied_by(cls, row: InterfaceRow, dumps: Dumps) -> str | None:
        """The VLAN of an interface of ours."""
        parent = dumps.names.get(row.parent_index)
        if row.parent_index == row.index or parent is None:
            return None
        return _vlan_token(parent, row.vlan_id)

    @classmethod
    def clear(cls, leftover: Leftover, vpp: Access) -> None:
        """Remove it."""
        vpp.call("delete_subif", sw_if_index=leftover.index)
