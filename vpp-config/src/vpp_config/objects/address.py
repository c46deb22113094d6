"""An IP address of an interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface
from typing import ClassVar

from planner import Declared
from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import Dumps, InterfaceRow
from vpp_config.errors import VppApiError
from vpp_config.objects.base import Family, VppObject
from vpp_config.objects.link import announce
from vpp_config.tokens import interface_token

# IPv4 and IPv6 have different return values for "taken".
_IN_USE = {-105, -127}


@dataclass(frozen=True)
class Address(VppObject):
    """An address with its prefix length. VPP and the mirror manage IPv6 link-local addresses themselves."""

    kind = "address"
    mirrored = True
    gone: ClassVar = {"sw_interface_add_del_address": frozenset({-60})}

    interface: str
    address: IPv4Interface | IPv6Interface

    def __post_init__(self) -> None:
        if self.address.version == 6 and self.address.is_link_local:
            raise ValueError("link-local addresses are not configured")

    @property
    def key(self) -> str:
        """``address/<interface>/<address>/<length>``."""
        return f"address/{self.interface}/{self.address}"

    @property
    def family(self) -> Family:
        """The address family."""
        return "ipv6" if self.address.version == 6 else "ipv4"

    def label(self) -> str:
        """``address 192.0.2.2/30 on interface wan0``."""
        return f"address {self.address} on interface {self.interface}"

    def requires(self) -> tuple[str, ...]:
        """The interface."""
        return (interface_token(self.interface),)

    def follows(self, beside: Mapping[str, Declared]) -> tuple[str, ...]:
        """Its VRF, which VPP does not change under an address, and its mirror, which copies only later
        addresses.
        """
        return (f"interface_vrf/{self.interface}/{self.family}", f"lcp_pair/{self.interface}")

    def removal_impact(self) -> str:
        """Packets sent to it or through it are lost."""
        return f"loses packets on {self.interface}"

    def create(self, vpp: Access) -> None:
        """Add it. It is no error if it is already there; VPP's refusal does not tell where, so we look."""
        try:
            self._add_del(vpp, is_add=True)
        except VppApiError as error:
            if error.retval not in _IN_USE or not self._is_there(vpp):
                raise
        announce(vpp, vpp.index_of(self.interface), self.address.ip)

    def _is_there(self, vpp: Access) -> bool:
        index = vpp.index_of(self.interface)
        rows = vpp.call("ip_address_dump", sw_if_index=index, is_ipv6=self.family == "ipv6")
        return any(row.prefix == self.address for row in rows)

    def delete(self, vpp: Access) -> None:
        """Remove it."""
        self._add_del(vpp, is_add=False)

    def _add_del(self, vpp: Access, *, is_add: bool) -> None:
        vpp.call(
            "sw_interface_add_del_address",
            sw_if_index=vpp.index_of(self.interface),
            is_add=is_add,
            prefix=self.address,
        )

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[Address]:
        """The addresses of our interfaces."""
        for row in dumps.tagged_interfaces():
            for asked in cls.of_interface(row):
                for reply in dumps.table(asked):
                    if reply.prefix.version == 4 or not reply.prefix.is_link_local:
                        yield cls(row.name, reply.prefix)

    @classmethod
    def of_interface(cls, row: InterfaceRow) -> tuple[Request, ...]:
        """The addresses of both families."""
        return tuple(
            request("ip_address_dump", sw_if_index=row.index, is_ipv6=is_ipv6) for is_ipv6 in (False, True)
        )
