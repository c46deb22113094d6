"""A mapping from outside to an inside host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any, ClassVar, Literal

from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import ALL, Dumps
from vpp_config.objects.base import VppObject
from vpp_config.objects.nat import NAT, NO_SUCH_ENTRY, NOT_ENABLED, keep

_MAPPINGS = request("nat44_static_mapping_dump")
_OUT_TO_IN_ONLY, _ADDRESS_ONLY = 0x04, 0x08
_NUMBERS = {"tcp": 6, "udp": 17}
_NAMES: dict[int, Literal["tcp", "udp"]] = {6: "tcp", 17: "udp"}


@dataclass(frozen=True)
class NatMapping(VppObject):
    """Without a protocol, a 1:1 mapping: the whole outside address is the inside one, in both directions.
    With a protocol, a port forward: packets to the outside port go to the inside one, and sessions that
    the host begins are not affected.
    """

    kind = "nat_mapping"
    tables: ClassVar[tuple[Request, ...]] = (_MAPPINGS,)
    gone: ClassVar = {"nat44_add_del_static_mapping_v2": frozenset({NO_SUCH_ENTRY, NOT_ENABLED})}

    outside_address: IPv4Address
    inside_address: IPv4Address
    protocol: Literal["tcp", "udp"] | None = None
    outside_port: int = 0
    inside_port: int = 0

    def __post_init__(self) -> None:
        wanted = range(1, 65536) if self.protocol is not None else range(1)
        if self.outside_port not in wanted or self.inside_port not in wanted:
            raise ValueError("a port forward has ports in 1..65535, a 1:1 mapping none")

    @property
    def key(self) -> str:
        """``nat_mapping/<outside>``, for a port forward with protocol and port."""
        port = "" if self.protocol is None else f"/{self.protocol}/{self.outside_port}"
        return f"nat_mapping/{self.outside_address}{port}"

    def label(self) -> str:
        """``NAT mapping of tcp 198.51.100.8:443 to 10.0.0.9:8443``."""
        if self.protocol is None:
            return f"NAT mapping of {self.outside_address} to {self.inside_address}"
        ends = f"{self.outside_address}:{self.outside_port} to {self.inside_address}:{self.inside_port}"
        return f"NAT mapping of {self.protocol} {ends}"

    def requires(self) -> tuple[str, ...]:
        """NAT."""
        return (NAT,)

    def removal_impact(self) -> str:
        """Its sessions."""
        return f"ends sessions of the {self.label()}"

    def create(self, vpp: Access) -> None:
        """Add it."""
        keep(vpp, "nat44_add_del_static_mapping_v2", **self._fields())

    def delete(self, vpp: Access) -> None:
        """Remove it, and with it its sessions."""
        vpp.call("nat44_add_del_static_mapping_v2", is_add=False, **self._fields())

    def _fields(self) -> dict[str, Any]:
        return {
            "flags": _ADDRESS_ONLY if self.protocol is None else _OUT_TO_IN_ONLY,
            "local_ip_address": self.inside_address,
            "external_ip_address": self.outside_address,
            "protocol": 0 if self.protocol is None else _NUMBERS[self.protocol],
            "local_port": self.inside_port,
            "external_port": self.outside_port,
            "external_sw_if_index": ALL,
            "vrf_id": 0,
        }

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[NatMapping]:
        """All that VPP has."""
        for row in dumps.table(_MAPPINGS):
            outside, inside = row.external_ip_address, row.local_ip_address
            if int(row.flags) & _ADDRESS_ONLY:
                yield cls(outside, inside)
            elif (protocol := _NAMES.get(int(row.protocol))) is not None:
                yield cls(outside, inside, protocol, row.external_port, row.local_port)
