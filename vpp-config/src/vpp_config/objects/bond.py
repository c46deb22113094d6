"""A bond: several NICs that act as one (IEEE 802.1AX)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from vpp_config.access import Access
from vpp_config.client import Reply, Request, request
from vpp_config.dumps import ALL, Dumps, InterfaceRow
from vpp_config.leftover import Leftover
from vpp_config.objects.base import Interface, check_mac, check_name
from vpp_config.objects.link import change, settle

BondMode = Literal["round_robin", "active_backup", "xor", "broadcast", "lacp"]
LoadBalance = Literal["l2", "l34", "l23"]

_VPP_NAME = re.compile(r"^BondEthernet(\d+)$")
_MAX_NUMBER = 2**32 - 2
_MODES: tuple[BondMode, ...] = ("round_robin", "active_backup", "xor", "broadcast", "lacp")
_HASHES: tuple[LoadBalance, ...] = ("l2", "l34", "l23")
_HASHING: frozenset[BondMode] = frozenset(("xor", "lacp"))
_BONDS = request("sw_bond_interface_dump", sw_if_index=ALL)


def number_of(vpp_name: str) -> int | None:
    """The number of an interface with the VPP name ``BondEthernet<number>``; None for any other."""
    match = _VPP_NAME.match(vpp_name)
    return int(match[1]) if match else None


def _number_token(number: int) -> str:
    return f"bond/{number}"


@dataclass(frozen=True)
class Bond(Interface):
    """VPP's ``BondEthernet<number>``. ``mac`` is pinned, because VPP would otherwise take the first
    member's; the members get it. In the modes xor and lacp, ``load_balance`` chooses the member that a
    packet leaves by.
    """

    kind = "bond"
    plugins = ("lacp",)
    tables: ClassVar[tuple[Request, ...]] = (_BONDS,)
    clears = ("bond",)
    gone: ClassVar = {"bond_delete": frozenset({-2})}
    takes_vlans = True

    name: str
    number: int
    mode: BondMode
    mac: str
    load_balance: LoadBalance | None = None
    mtu: int = 1500
    enabled: bool = True

    def __post_init__(self) -> None:
        check_name(self.name)
        if not 0 <= self.number <= _MAX_NUMBER:
            raise ValueError(f"number is outside 0..{_MAX_NUMBER}")
        object.__setattr__(self, "mac", check_mac(self.mac))
        if (self.load_balance is not None) != (self.mode in _HASHING):
            raise ValueError("load_balance belongs to the modes xor and lacp, and they need it")

    def needs_recreate(self, before: Bond) -> bool:
        """Everything but MTU and state: VPP takes the rest only when it makes the bond."""
        return self._made_with() != before._made_with()

    def _made_with(self) -> tuple[object, ...]:
        return self.number, self.mode, self.load_balance, self.mac

    def occupies(self) -> str:
        """The number."""
        return _number_token(self.number)

    def create(self, vpp: Access) -> None:
        """Create, tag, set the MTU. Members are added later."""
        reply = vpp.call(
            "bond_create2",
            mode=_MODES.index(self.mode) + 1,
            lb=0 if self.load_balance is None else _HASHES.index(self.load_balance),
            use_custom_mac=True,
            mac_address=self.mac,
            id=self.number,
        )
        settle(vpp, self, int(reply.sw_if_index))

    def update(self, before: Bond, vpp: Access) -> None:
        """MTU and state in place."""
        change(vpp, self, before)

    def delete(self, vpp: Access) -> None:
        """Remove the bond, which has no members left."""
        vpp.call("bond_delete", sw_if_index=vpp.index_of(self.name))
        vpp.forget(self.provides)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[Bond]:
        """Our tagged bonds."""
        bonds = dumps.derived(_by_index)
        for row in dumps.tagged_interfaces():
            bond = bonds.get(row.index)
            if bond is not None:
                mode = _MODES[int(bond.mode) - 1]
                load_balance = _HASHES[int(bond.lb)] if mode in _HASHING else None
                yield cls(row.name, int(bond.id), mode, row.mac, load_balance, row.l3_mtu, row.up)

    @classmethod
    def occupied_by(cls, row: InterfaceRow, dumps: Dumps) -> str | None:
        """The number of a bond."""
        bond = dumps.derived(_by_index).get(row.index)
        return None if bond is None else _number_token(int(bond.id))

    @classmethod
    def clear(cls, leftover: Leftover, vpp: Access) -> None:
        """Remove it; VPP releases its members."""
        vpp.call("bond_delete", sw_if_index=leftover.index)


def _by_index(dumps: Dumps) -> Mapping[int, Reply]:
    return {reply.sw_if_index: reply for reply in dumps.table(_BONDS)}
