"""Addresses given to sessions from inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import ClassVar

from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import Dumps
from vpp_config.objects.base import VppObject
from vpp_config.objects.nat import ANY_VRF, NAT, NO_SUCH_ENTRY, NOT_ENABLED, keep

_ADDRESSES = request("nat44_address_dump")
_FOR_EXTERNAL_HOSTS = 1


@dataclass(frozen=True)
class NatPool(VppObject):
    """All of them, in ascending order: VPP has one pool for all outside interfaces."""

    kind = "nat_pool"
    tables: ClassVar[tuple[Request, ...]] = (_ADDRESSES,)
    gone: ClassVar = {"nat44_add_del_address_range": frozenset({NO_SUCH_ENTRY, NOT_ENABLED})}

    addresses: tuple[IPv4Address, ...]

    def __post_init__(self) -> None:
        if not self.addresses or list(self.addresses) != sorted(set(self.addresses)):
            raise ValueError("addresses are one or more, each once, in ascending order")

    @property
    def key(self) -> str:
        """There is one: ``nat_pool/all``."""
        return "nat_pool/all"

    def label(self) -> str:
        """``NAT pool``."""
        return "NAT pool"

    def requires(self) -> tuple[str, ...]:
        """NAT."""
        return (NAT,)

    def needs_recreate(self, before: NatPool) -> bool:
        """Never: addresses are added and removed one by one."""
        return False

    def describe_update(self, before: NatPool) -> str:
        """``change NAT pool: remove 198.51.100.8, add 2 addresses``."""
        come, gone = set(self.addresses) - set(before.addresses), set(before.addresses) - set(self.addresses)
        said = [f"{verb} {_words(some)}" for verb, some in (("remove", gone), ("add", come)) if some]
        return f"change {self.label()}: {', '.join(said)}"

    def removal_impact(self) -> str:
        """Sessions that use one of them."""
        return "ends sessions of the NAT pool"

    def update_impact(self, before: NatPool) -> str:
        """Only removed addresses end sessions."""
        return "none" if set(before.addresses) <= set(self.addresses) else "ends sessions of the NAT pool"

    def create(self, vpp: Access) -> None:
        """Add all."""
        _add(vpp, self.addresses)

    def update(self, before: NatPool, vpp: Access) -> None:
        """New addresses first, so that there is always one."""
        _add(vpp, set(self.addresses) - set(before.addresses))
        _remove(vpp, set(before.addresses) - set(self.addresses))

    def delete(self, vpp: Access) -> None:
        """Remove all."""
        _remove(vpp, self.addresses)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[NatPool]:
        """The addresses for inside hosts."""
        rows = dumps.table(_ADDRESSES)
        found = sorted(row.ip_address for row in rows if not int(row.flags) & _FOR_EXTERNAL_HOSTS)
        if found:
            yield cls(tuple(found))


def _add(vpp: Access, addresses: Iterable[IPv4Address]) -> None:
    for address in sorted(addresses):
        keep(
            vpp,
            "nat44_add_del_address_range",
            first_ip_address=address,
            last_ip_address=address,
            vrf_id=ANY_VRF,
        )


def _remove(vpp: Access, addresses: Iterable[IPv4Address]) -> None:
    here = {row.ip_address for row in vpp.call("nat44_address_dump")}
    for address in sorted(here & set(addresses)):
        vpp.call(
            "nat44_add_del_address_range",
            is_add=False,
            first_ip_address=address,
            last_ip_address=address,
            vrf_id=ANY_VRF,
        )


def _words(addresses: set[IPv4Address]) -> str:
    return str(min(addresses)) if len(addresses) == 1 else f"{len(addresses)} addresses"
