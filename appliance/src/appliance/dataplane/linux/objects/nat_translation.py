"""Translation of addresses in the kernel: which sessions, and to which addresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Self

from appliance.dataplane.linux import nat_rules
from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.nat_table import NatTable
from appliance.dataplane.linux.objects.base import LinuxObject

NAT = "nat"
"""The token of the table."""


@dataclass(frozen=True)
class NatTranslation(nat_rules.Translation, LinuxObject):
    """Inside and outside interfaces, and the addresses that sessions get.

    nftables knows interfaces by name alone, so the object can exist before the links and after them.
    """

    @classmethod
    def of(cls, found: nat_rules.Translation) -> Self:
        """The object for this translation."""
        return cls(**{part.name: getattr(found, part.name) for part in fields(found)})

    @property
    def key(self) -> str:
        """``nat``: there is only one."""
        return NAT

    @property
    def path(self) -> str:
        """NAT in the document."""
        return "/nat"

    def label(self) -> str:
        """As words."""
        return "address translation"

    def needs_recreate(self, before: Self) -> bool:
        """Never: it changes in one transaction, and sessions go on."""
        return False

    def describe_create(self) -> str:
        """``add address translation: from lan0 to wan0``."""
        inside, outside = ", ".join(self.inside_interfaces), ", ".join(self.outside_interfaces)
        return f"add {self.label()}: from {inside} to {outside}"

    def describe_update(self, before: Self) -> str:
        """``change address translation: pool, no-NAT rules``."""
        parts = [
            words
            for words, value, old in (
                ("what somebody else altered", self.altered, before.altered),
                ("inside interfaces", self.inside_interfaces, before.inside_interfaces),
                ("outside interfaces", self.outside_interfaces, before.outside_interfaces),
                ("masquerade", self.overload, before.overload),
                ("pools", self.pool, before.pool),
                ("no-NAT rules", self.no_nat, before.no_nat),
                ("sessions per user", self.sessions_per_user, before.sessions_per_user),
            )
            if value != old
        ]
        return f"change {self.label()}: {', '.join(parts)}"

    def removal_impact(self) -> str:
        """Nothing is translated any more."""
        return "ends all translated sessions"

    def update_impact(self, before: Self) -> str:
        """Sessions of addresses no longer used end."""
        gone = sorted(before.addresses - self.addresses)
        more = " …" if len(gone) > 1 else ""
        return f"ends sessions translated to {gone[0]}{more}" if gone else "none"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """The translation of our table."""
        nat = dump.table(NatTable)
        if nat is not None:
            yield cls.of(nat.translation)

    def create(self, kernel: Access) -> None:
        """Make the table."""
        kernel.table(NatTable).translate(self)

    def update(self, before: Self, kernel: Access) -> None:
        """Change it in one transaction."""
        kernel.table(NatTable).translate(self)

    def delete(self, kernel: Access) -> None:
        """Remove the table; no error if it is gone."""
        kernel.table(NatTable).translate(None)
