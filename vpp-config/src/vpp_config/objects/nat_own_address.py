"""Outside addresses through which the router itself is reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import ClassVar

from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import ALL, Dumps
from vpp_config.objects.base import VppObject
from vpp_config.objects.nat import NAT, NO_SUCH_ENTRY, NOT_ENABLED, keep

_IDENTITIES = request("nat44_identity_mapping_dump")
_ADDRESS_ONLY = 0x08


@dataclass(frozen=True)
class NatOwnAddress(VppObject):
    """Packets to it that belong to no session and no port forward are the router's. Without this object
    VPP's NAT would drop them all, except pings.
    """

    kind = "nat_own_address"
    tables: ClassVar[tuple[Request, ...]] = (_IDENTITIES,)
    gone: ClassVar = {"nat44_add_del_identity_mapping": frozenset({NO_SUCH_ENTRY, NOT_ENABLED})}

    address: IPv4Address

    @property
    def key(self) -> str:
        """``nat_own_address/<address>``."""
        return f"nat_own_address/{self.address}"

    def label(self) -> str:
        """``exception from NAT for the router's address 192.0.2.2``."""
        return f"exception from NAT for the router's address {self.address}"

    def requires(self) -> tuple[str, ...]:
        """NAT."""
        return (NAT,)

    def removal_impact(self) -> str:
        """Sessions of the router."""
        return f"ends sessions of the router at {self.address}"

    def create(self, vpp: Access) -> None:
        """Add it."""
        keep(vpp, "nat44_add_del_identity_mapping", **self._fields())

    def delete(self, vpp: Access) -> None:
        """Remove it."""
        vpp.call("nat44_add_del_identity_mapping", is_add=False, **self._fields())

    def _fields(self) -> dict[str, object]:
        return {"flags": _ADDRESS_ONLY, "ip_address": self.address, "sw_if_index": ALL, "vrf_id": 0}

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[NatOwnAddress]:
        """Those of whole addresses."""
        for row in dumps.table(_IDENTITIES):
            if int(row.flags) & _ADDRESS_ONLY:
                yield cls(row.ip_address)
