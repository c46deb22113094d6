"""A VRF's table for one address family."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import Dumps
from vpp_config.objects.base import Family, VppObject, check_name

_TABLES = request("ip_table_dump")


def table_token(table_id: int, family: Family) -> str:
    """The token that a table provides to the interfaces in it."""
    return f"vrf_table/{table_id}/{family}"


@dataclass(frozen=True)
class VrfTable(VppObject):
    """FIB table ``table_id`` (not 0, which is VPP's own). A VRF with both families is two of these."""

    kind = "vrf_table"
    tables: ClassVar[tuple[Request, ...]] = (_TABLES,)

    table_id: int
    name: str
    family: Family

    def __post_init__(self) -> None:
        check_name(self.name)
        if not 1 <= self.table_id < 2**32 - 1:
            raise ValueError("table_id is outside 1..4294967294")

    @property
    def key(self) -> str:
        """``vrf_table/<id>/<family>``."""
        return table_token(self.table_id, self.family)

    def label(self) -> str:
        """``ipv4 table 10 (blue)``."""
        return f"{self.family} table {self.table_id} ({self.name})"

    def create(self, vpp: Access) -> None:
        """Create, with our prefix in the name, because a table has no tag."""
        self._add_del(vpp, is_add=True)

    def delete(self, vpp: Access) -> None:
        """Remove; VPP keeps it while routes or interfaces use it."""
        self._add_del(vpp, is_add=False)

    def _add_del(self, vpp: Access, *, is_add: bool) -> None:
        table = {"table_id": self.table_id, "is_ip6": self.family == "ipv6", "name": vpp.prefix + self.name}
        vpp.call("ip_table_add_del_v2", is_add=is_add, create_mfib=True, table=table)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[VrfTable]:
        """The tables whose names have our prefix."""
        for reply in dumps.table(_TABLES):
            name = dumps.our_name(reply.table.name)
            if name is not None:
                yield cls(reply.table.table_id, name, "ipv6" if reply.table.is_ip6 else "ipv4")
