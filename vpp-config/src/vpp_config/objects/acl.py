# ruff: noqa: ARG002 - methods of one interface, of which not every object needs every argument
"""An access list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vpp_config.objects.acl_rule import AclRule
from vpp_config.objects.base import VppObject, check_name

if TYPE_CHECKING:
    from vpp_config.access import Access
    from vpp_config.dumps import Dumps

NEW = 0xFFFFFFFF


@dataclass(frozen=True)
class Acl(VppObject):
    """Rules in order; the first match decides. A packet that matches no rule of any bound list is dropped.

    A list without rules matches nothing.
    """

    kind = "acl"

    name: str
    rules: tuple[AclRule, ...]

    def __post_init__(self) -> None:
        check_name(self.name)

    @property
    def key(self) -> str:
        """``acl/<name>``."""
        return f"acl/{self.name}"

    def label(self) -> str:
        """``access list edge-in``."""
        return f"access list {self.name}"

    def needs_recreate(self, before: Acl) -> bool:
        """Never: VPP replaces a list's rules at once, while it is bound."""
        return False

    def describe_update(self, before: Acl) -> str:
        """``replace the rules of access list edge-in (12 rules)``."""
        count = len(self.rules)
        return f"replace the rules of {self.label()} ({count} rule{'s' if count != 1 else ''})"

    def create(self, vpp: Access) -> None:
        """Add the list; a list is nothing until bound."""
        reply = self._add_replace(vpp, NEW)
        vpp.remember_acl(self.name, reply, self.rules)

    def update(self, before: Acl, vpp: Access) -> None:
        """Replace the rules in place. VPP restarts the list's hit counters at zero: they are read first."""
        index = vpp.acl_index(self.name)
        vpp.before_acl_change()
        self._add_replace(vpp, index)
        vpp.remember_acl(self.name, index, self.rules)

    def _add_replace(self, vpp: Access, index: int) -> int:
        reply = vpp.call(
            "acl_add_replace",
            acl_index=index,
            tag=vpp.prefix + self.name,
            count=len(self.rules),
            r=self.rules,
        )
        return int(reply.acl_index)

    def delete(self, vpp: Access) -> None:
        """Remove the list; VPP refuses (-142, -143) while it is bound."""
        vpp.call("acl_del", acl_index=vpp.acl_index(self.name))
        vpp.forget_acl(self.name)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[Acl]:
        """The lists that carry our tag."""
        for name, details in dumps.acls.items():
            yield cls(name, tuple(details.r))
