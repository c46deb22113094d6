"""A dot1q sub-interface: one VLAN of an Ethernet interface."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vpp_config.objects.base import Interface, check_name, interface_token
from vpp_config.objects.link import change, settle

if TYPE_CHECKING:
    from vpp_config.access import Access
    from vpp_config.dumps import Dumps


@dataclass(frozen=True)
class SubInterface(Interface):
    """IEEE 802.1Q VLAN ``vlan_id`` (1..4094) of interface ``parent``. ``mtu`` is at most the parent's.

    It cannot be up while its parent is down: planned then as if it were disabled.
    """

    kind = "sub_interface"

    name: str
    parent: str
    vlan_id: int
    mtu: int = 1500
    enabled: bool = True

    def __post_init__(self) -> None:
        check_name(self.name)
        if not 1 <= self.vlan_id <= 4094:
            raise ValueError("vlan_id is outside 1..4094")

    @property
    def parent_name(self) -> str:
        """The Ethernet interface that carries the VLAN."""
        return self.parent

    def requires(self) -> tuple[str, ...]:
        """The parent."""
        return (interface_token(self.parent),)

    def needs_recreate(self, before: Interface) -> bool:
        """Another parent or VLAN."""
        return not isinstance(before, SubInterface) or (before.parent, before.vlan_id) != (
            self.parent,
            self.vlan_id,
        )

    def create(self, vpp: Access) -> None:
        """Create (exact match on one tag), tag, set the MTU."""
        reply = vpp.call("create_vlan_subif", sw_if_index=vpp.index_of(self.parent), vlan_id=self.vlan_id)
        settle(vpp, self, int(reply.sw_if_index))

    def update(self, before: Interface, vpp: Access) -> None:
        """MTU and state in place."""
        change(vpp, self, before)

    def delete(self, vpp: Access) -> None:
        """Remove the sub-interface."""
        vpp.call("delete_subif", sw_if_index=vpp.index_of(self.name))
        vpp.forget_interface(self.name)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[SubInterface]:
        """Our tagged sub-interfaces of our interfaces."""
        for row in dumps.tagged_interfaces():
            parent = dumps.names.get(row.parent_index)
            if row.parent_index != row.index and parent is not None and row.vlan_id:
                yield cls(row.name, parent, row.vlan_id, row.l3_mtu, row.up)
