"""1:1 mappings and port forwards in the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from appliance.dataplane.linux import nat_rules
from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.nat_table import NatTable
from appliance.dataplane.linux.objects.base import LinuxObject
from appliance.dataplane.linux.objects.nat_translation import NAT

_NAMED = 6
"""Mappings named in a summary."""


@dataclass(frozen=True)
class NatMappings(nat_rules.Mappings, LinuxObject):
    """All mappings that lead inside; thousands change in one transaction."""

    @property
    def key(self) -> str:
        """``nat_mappings``: there is only one."""
        return "nat_mappings"

    @property
    def path(self) -> str:
        """NAT in the document."""
        return "/nat"

    def label(self) -> str:
        """As words."""
        return "NAT mappings"

    def requires(self) -> tuple[str, ...]:
        """The table that holds them."""
        return (NAT,)

    def needs_recreate(self, before: Self) -> bool:
        """Never."""
        return False

    def describe_create(self) -> str:
        """``add NAT mappings: tcp 192.0.2.2:80 to 10.0.0.9:80``."""
        return f"add {self.label()}: {_shown(self._words())}"

    def describe_update(self, before: Self) -> str:
        """``change NAT mappings: add tcp 192.0.2.2:80 to 10.0.0.9:80; remove …``."""
        old, new = set(before._words()), set(self._words())
        parts = [
            f"{verb} {_shown(words)}"
            for verb, words in (
                ("add", [one for one in self._words() if one not in old]),
                ("remove", [one for one in before._words() if one not in new]),
            )
            if words
        ]
        return f"change {self.label()}: {'; '.join(parts)}"

    def _words(self) -> list[str]:
        return [
            *(f"{outside} to {inside}" for outside, inside in self.static),
            *(
                f"{one.protocol} {one.outside}:{one.outside_port} to {one.inside}:{one.inside_port}"
                for one in self.forwards
            ),
        ]

    def removal_impact(self) -> str:
        """Their sessions end."""
        return "ends sessions of NAT mappings"

    def update_impact(self, before: Self) -> str:
        """Sessions of removed mappings end."""
        gone = set(before.static) - set(self.static) or set(before.forwards) - set(self.forwards)
        return "ends sessions of NAT mappings" if gone else "none"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """The mappings of our table; none if it holds none."""
        nat = dump.table(NatTable)
        if nat is not None and nat.mappings != nat_rules.Mappings():
            yield cls(nat.mappings.static, nat.mappings.forwards)

    def create(self, kernel: Access) -> None:
        """Set these mappings."""
        kernel.table(NatTable).map(nat_rules.Mappings(self.static, self.forwards))

    def update(self, before: Self, kernel: Access) -> None:
        """Unchanged mappings are not touched."""
        self.create(kernel)

    def delete(self, kernel: Access) -> None:
        """Remove all mappings."""
        kernel.table(NatTable).map(nat_rules.Mappings())


def _shown(words: list[str]) -> str:
    return ", ".join(words[:_NAMED]) + (f" and {len(words) - _NAMED} more" if len(words) > _NAMED else "")
