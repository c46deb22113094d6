"""The table in which an interface's packets are looked up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import Dumps, InterfaceRow
from vpp_config.objects.base import Family, VppObject
from vpp_config.objects.vrf_table import table_token
from vpp_config.tokens import interface_token


@dataclass(frozen=True)
class InterfaceVrf(VppObject):
    """Binds an interface to a table other than 0, for one family. VPP refuses this while the interface
    has addresses.
    """

    kind = "interface_vrf"
    mirrored = True

    interface: str
    family: Family
    table_id: int

    def __post_init__(self) -> None:
        if not 1 <= self.table_id < 2**32 - 1:
            raise ValueError("table_id is outside 1..4294967294")

    @property
    def key(self) -> str:
        """``interface_vrf/<interface>/<family>``."""
        return f"interface_vrf/{self.interface}/{self.family}"

    def label(self) -> str:
        """``interface wan0 in ipv4 table 10``."""
        return f"interface {self.interface} in {self.family} table {self.table_id}"

    def requires(self) -> tuple[str, ...]:
        """The interface and the table."""
        return (interface_token(self.interface), table_token(self.table_id, self.family))

    def removal_impact(self) -> str:
        """Packets are looked up in another table."""
        return f"loses packets on {self.interface}"

    def create(self, vpp: Access) -> None:
        """Bind."""
        self._set(vpp, self.table_id)

    def delete(self, vpp: Access) -> None:
        """Bind to table 0 again."""
        self._set(vpp, 0)

    def _set(self, vpp: Access, table_id: int) -> None:
        vpp.call(
            "sw_interface_set_table",
            sw_if_index=vpp.index_of(self.interface),
            is_ipv6=self.family == "ipv6",
            vrf_id=table_id,
        )

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[InterfaceVrf]:
        """The bindings of our interfaces to tables other than 0."""
        for row in dumps.tagged_interfaces():
            for asked in cls.of_interface(row):
                reply = dumps.reply(asked)
                if reply is not None and reply.vrf_id:
                    yield cls(row.name, "ipv6" if asked.fields["is_ipv6"] else "ipv4", reply.vrf_id)

    @classmethod
    def of_interface(cls, row: InterfaceRow) -> tuple[Request, ...]:
        """The table of each family."""
        return tuple(
            request("sw_interface_get_table", sw_if_index=row.index, is_ipv6=is_ipv6)
            for is_ipv6 in (False, True)
        )
