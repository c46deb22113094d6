"""An access list in the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from appliance.config.counted import counted
from appliance.config.pointer import escape
from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.filter_rule import FilterRule, Foreign
from appliance.dataplane.linux.objects.base import LinuxObject

_NAMED = 8
"""Rules named in a summary; an ellipsis stands for the rest."""


def list_token(name: str) -> str:
    """What an access list provides to its bindings."""
    return f"acl/{name}"


@dataclass(frozen=True)
class FilterList(LinuxObject):
    """An access list: its rules in the order of evaluation."""

    name: str
    rules: tuple[FilterRule | Foreign, ...]

    @property
    def key(self) -> str:
        """``acl/<name>``."""
        return list_token(self.name)

    @property
    def path(self) -> str:
        """The access list."""
        return f"/acls/{escape(self.name)}"

    def label(self) -> str:
        """``access list edge-in``."""
        return f"access list {self.name}"

    def needs_recreate(self, before: Self) -> bool:
        """Never: rules are replaced in one transaction, while the list is bound."""
        return False

    def describe_create(self) -> str:
        """``add access list edge-in with 12 rules``."""
        return f"add {self.label()} with {counted(len(self.rules), 'rule')}"

    def describe_update(self, before: Self) -> str:
        """``change access list edge-in: rules 10, 20``."""
        differing = set(before.rules) ^ set(self.rules)
        changed = sorted({rule.sequence for rule in differing if isinstance(rule, FilterRule)})
        shown = ", ".join(str(sequence) for sequence in changed[:_NAMED])
        more = " …" if len(changed) > _NAMED else ""
        return f"change {self.label()}: rules {shown}{more}" if changed else f"change {self.label()}"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """The lists in our table."""
        for name, entries in dump.ruleset.lists.items():
            yield cls(name, tuple(entry.rule for entry in entries))

    def create(self, kernel: Access) -> None:
        """Write it; unchanged rules keep their place and their counts."""
        rules = [rule for rule in self.rules if isinstance(rule, FilterRule)]
        kernel.filters.set_list(self.name, rules)

    def update(self, before: Self, kernel: Access) -> None:
        """The rules in place, in one transaction."""
        self.create(kernel)

    def delete(self, kernel: Access) -> None:
        """Remove it; no error if it is gone."""
        kernel.filters.set_list(self.name, None)
