"""The fake's bonds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from vpp_config.fake import tables as t
from vpp_config.fake.tables import FakeInterface, RefusedError, Tables

_ACTIVE_BACKUP, _LACP = 2, 5
_HIGHEST_HASH = 2
_SHOWN_HASH = {1: 3, _ACTIVE_BACKUP: 5, 4: 4}
"""VPP's answer for the modes that have no hash."""


@dataclass(frozen=True)
class FakeBond:
    """The bond's part of an interface; ``mode`` and ``hash`` are VPP's numbers."""

    number: int
    mode: int
    hash: int


@dataclass
class Membership:
    """The part of an interface that is a member of ``bond``, an index."""

    bond: int
    own_mac: str
    is_passive: bool
    is_long_timeout: bool
    weight: int = 0


class BondCalls:
    """Handlers of the messages about bonds, by message name."""

    def __init__(self, held: Tables) -> None:
        self._held = held

    def bond_create2(self, **fields: Any) -> Mapping[str, Any]:
        """``BondEthernet<id>``, with a free number."""
        mode, number, mac = fields["mode"], fields["id"], str(fields["mac_address"])
        if not 1 <= mode <= _LACP or fields["lb"] > _HIGHEST_HASH:
            raise RefusedError(t.INVALID_ARGUMENT)
        if any(row.vpp_name == f"BondEthernet{number}" for row in self._held.interfaces.values()):
            raise RefusedError(t.INSTANCE_IN_USE)
        assert fields["use_custom_mac"], "the MAC would be random"
        row = self._held.add_interface(f"BondEthernet{number}", "bond", mac)
        row.parts[FakeBond] = FakeBond(number, mode, _SHOWN_HASH.get(mode, fields["lb"]))
        return {"sw_if_index": row.index}

    def bond_delete(self, sw_if_index: int) -> None:
        """Its interfaces remain, and are no longer members."""
        row = self._held.interface(sw_if_index)
        if FakeBond not in row.parts:
            raise RefusedError(t.INVALID_SW_IF_INDEX)
        for member, _ in list(self._members(sw_if_index)):
            self._release(member)
        self._held.remove_interface(sw_if_index)

    def bond_add_member(
        self, sw_if_index: int, bond_sw_if_index: int, is_passive: bool, is_long_timeout: bool
    ) -> None:
        """The member gets the bond's MAC."""
        row = self._held.interface(sw_if_index)
        bond = self._held.interfaces.get(bond_sw_if_index)
        if bond is None or FakeBond not in bond.parts or FakeBond in row.parts:
            raise RefusedError(t.INVALID_INTERFACE)
        if Membership in row.parts:
            raise RefusedError(t.VALUE_EXIST)
        row.parts[Membership] = Membership(bond.index, row.mac, is_passive, is_long_timeout)
        row.mac = bond.mac

    def bond_detach_member(self, sw_if_index: int) -> None:
        """The member gets its own MAC back."""
        row = self._held.interface(sw_if_index)
        if Membership not in row.parts:
            raise RefusedError(t.INVALID_INTERFACE)
        self._release(row)

    def sw_interface_set_bond_weight(self, sw_if_index: int, weight: int) -> None:
        """Only in a mode that uses one member at a time."""
        row = self._held.interface(sw_if_index)
        membership: Membership | None = row.parts.get(Membership)
        if membership is None:
            raise RefusedError(t.INVALID_INTERFACE)
        bond: FakeBond = self._held.interfaces[membership.bond].parts[FakeBond]
        if bond.mode != _ACTIVE_BACKUP:
            raise RefusedError(t.INVALID_ARGUMENT)
        membership.weight = weight

    def sw_bond_interface_dump(self, sw_if_index: int) -> list[SimpleNamespace]:
        """One bond, or all."""
        return [
            SimpleNamespace(
                sw_if_index=row.index,
                id=bond.number,
                mode=bond.mode,
                lb=bond.hash,
                numa_only=False,
                members=len(list(self._members(row.index))),
                active_members=sum(member.up for member, _ in self._members(row.index)),
                interface_name=row.vpp_name,
            )
            for row in self._held.interfaces.values()
            if (bond := row.parts.get(FakeBond)) is not None and sw_if_index in (row.index, 0xFFFFFFFF)
        ]

    def sw_member_interface_dump(self, sw_if_index: int) -> list[SimpleNamespace]:
        """The members of a bond; none where the interface is not a bond."""
        return [
            SimpleNamespace(
                sw_if_index=row.index,
                interface_name=row.vpp_name,
                is_passive=membership.is_passive,
                is_long_timeout=membership.is_long_timeout,
                is_local_numa=True,
                weight=membership.weight,
            )
            for row, membership in self._members(sw_if_index)
        ]

    def _members(self, bond: int) -> Iterator[tuple[FakeInterface, Membership]]:
        for row in self._held.interfaces.values():
            membership = row.parts.get(Membership)
            if membership is not None and membership.bond == bond:
                yield row, membership

    @staticmethod
    def _release(row: FakeInterface) -> None:
        membership: Membership | None = row.parts.pop(Membership, None)
        if membership is not None:
            row.mac = membership.own_mac
