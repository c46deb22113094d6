"""The fake's bonds."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from vpp_config.fake import tables as t
from vpp_config.fake.tables import FakeInterface, RefusedError, Tables

_ACTIVE_BACKUP, _LACP = 2, 5
_HIGHEST_HASH = 2
_SHOWN_HASH = {1: 3, _ACTIVE_BACKUP: 5, 4: 4}
"""What VPP tells of the modes that have no hash."""


class BondCalls:
    """Handlers by message name, of the messages about bonds."""

    def __init__(self, held: Tables) -> None:
        self._held = held

    def bond_create2(self, **fields: Any) -> Mapping[str, Any]:
        """``BondEthernet<id>``, with a number that is free."""
        mode, number, mac = fields["mode"], fields["id"], str(fields["mac_address"])
        if not 1 <= mode <= _LACP or fields["lb"] > _HIGHEST_HASH:
            raise RefusedError(t.INVALID_ARGUMENT)
        if any(row.vpp_name == f"BondEthernet{number}" for row in self._held.interfaces.values()):
            raise RefusedError(t.INSTANCE_IN_USE)
        assert fields["use_custom_mac"], "the MAC would be random"
        row = self._held.add_interface(f"BondEthernet{number}", "bond", mac)
        row.bond = t.FakeBond(number, mode, _SHOWN_HASH.get(mode, fields["lb"]))
        return {"sw_if_index": row.index}

    def bond_delete(self, sw_if_index: int) -> None:
        """Its members stay, and are members no more."""
        row = self._held.interface(sw_if_index)
        if row.bond is None:
            raise RefusedError(t.INVALID_SW_IF_INDEX)
        for member in self._members(sw_if_index):
            self._release(member)
        self._held.remove_interface(sw_if_index)

    def bond_add_member(
        self, sw_if_index: int, bond_sw_if_index: int, is_passive: bool, is_long_timeout: bool
    ) -> None:
        """It gets the bond's MAC."""
        row = self._held.interface(sw_if_index)
        bond = self._held.interfaces.get(bond_sw_if_index)
        if bond is None or bond.bond is None or row.bond is not None:
            raise RefusedError(t.INVALID_INTERFACE)
        if row.membership is not None:
            raise RefusedError(t.VALUE_EXIST)
        row.membership = t.Membership(bond.index, row.mac, is_passive, is_long_timeout)
        row.mac = bond.mac

    def bond_detach_member(self, sw_if_index: int) -> None:
        """It gets its own MAC back."""
        row = self._held.interface(sw_if_index)
        if row.membership is None:
            raise RefusedError(t.INVALID_INTERFACE)
        self._release(row)

    def sw_interface_set_bond_weight(self, sw_if_index: int, weight: int) -> None:
        """Only where one member at a time is used."""
        row = self._held.interface(sw_if_index)
        if row.membership is None:
            raise RefusedError(t.INVALID_INTERFACE)
        bond = self._held.interfaces[row.membership.bond].bond
        assert bond is not None
        if bond.mode != _ACTIVE_BACKUP:
            raise RefusedError(t.INVALID_ARGUMENT)
        row.membership.weight = weight

    def sw_bond_interface_dump(self, sw_if_index: int) -> list[SimpleNamespace]:
        """One bond, or all."""
        return [
            SimpleNamespace(
                sw_if_index=row.index,
                id=row.bond.number,
                mode=row.bond.mode,
                lb=row.bond.hash,
                numa_only=False,
                members=len(self._members(row.index)),
                active_members=sum(member.up for member in self._members(row.index)),
                interface_name=row.vpp_name,
            )
            for row in self._held.interfaces.values()
            if row.bond is not None and sw_if_index in (row.index, 0xFFFFFFFF)
        ]

    def sw_member_interface_dump(self, sw_if_index: int) -> list[SimpleNamespace]:
        """The members of a bond; none of what is no bond."""
        return [
            SimpleNamespace(
                sw_if_index=row.index,
                interface_name=row.vpp_name,
                is_passive=row.membership.is_passive,
                is_long_timeout=row.membership.is_long_timeout,
                is_local_numa=True,
                weight=row.membership.weight,
            )
            for row in self._members(sw_if_index)
            if row.membership is not None
        ]

    def _members(self, bond: int) -> list[FakeInterface]:
        rows = self._held.interfaces.values()
        return [row for row in rows if row.membership is not None and row.membership.bond == bond]

    @staticmethod
    def _release(row: FakeInterface) -> None:
        if row.membership is not None:
            row.mac, row.membership = row.membership.own_mac, None
