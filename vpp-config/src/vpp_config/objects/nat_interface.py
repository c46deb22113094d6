"""The side of NAT that an interface is on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from planner import Phase
from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import Dumps
from vpp_config.objects.base import VppObject
from vpp_config.objects.nat import NAT, NO_SUCH_ENTRY, NOT_ENABLED
from vpp_config.tokens import interface_token

Side = Literal["inside", "outside"]
_INTERFACES = request("nat44_interface_dump")
_FLAGS: dict[Side, int] = {"outside": 0x10, "inside": 0x20}


@dataclass(frozen=True)
class NatInterface(VppObject):
    """Packets that enter through an inside interface are translated on their way to an outside one."""

    kind = "nat_interface"
    tables: ClassVar[tuple[Request, ...]] = (_INTERFACES,)
    gone: ClassVar = {"nat44_interface_add_del_feature": frozenset({NO_SUCH_ENTRY, NOT_ENABLED})}
    up_phase: ClassVar[Phase] = "attach"
    down_phase: ClassVar[Phase] = "detach"

    interface: str
    side: Side

    @property
    def key(self) -> str:
        """``nat_interface/<interface>/<side>``."""
        return f"nat_interface/{self.interface}/{self.side}"

    def label(self) -> str:
        """``NAT on outside interface wan0``."""
        return f"NAT on {self.side} interface {self.interface}"

    def requires(self) -> tuple[str, ...]:
        """NAT, and the interface."""
        return (NAT, interface_token(self.interface))

    def removal_impact(self) -> str:
        """Traffic is no longer translated."""
        return f"loses packets on {self.interface}"

    def create(self, vpp: Access) -> None:
        """VPP accepts it repeatedly."""
        self._set(vpp, is_add=True)

    def delete(self, vpp: Access) -> None:
        """Remove the interface from this side."""
        self._set(vpp, is_add=False)

    def _set(self, vpp: Access, *, is_add: bool) -> None:
        vpp.call(
            "nat44_interface_add_del_feature",
            is_add=is_add,
            flags=_FLAGS[self.side],
            sw_if_index=vpp.index_of(self.interface),
        )

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[NatInterface]:
        """The sides of our interfaces; an interface can be on both."""
        for row in dumps.table(_INTERFACES):
            name = dumps.names.get(row.sw_if_index)
            for side, flag in _FLAGS.items():
                if name is not None and int(row.flags) & flag:
                    yield cls(name, side)
