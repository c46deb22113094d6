"""An access list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from planner import Phase
from vpp_config.access import Access
from vpp_config.client import Reply, Request, request
from vpp_config.dumps import ALL, Dumps
from vpp_config.leftover import Leftover
from vpp_config.objects.acl_rule import AclRule
from vpp_config.objects.base import VppObject, check_name

NEW = 0xFFFFFFFF
_LISTS = request("acl_dump", acl_index=ALL)


def acl_token(name: str) -> str:
    """The token that an access list provides to its bindings."""
    return f"acl/{name}"


@dataclass(frozen=True)
class Acl(VppObject):
    """Rules in order; the first match decides. A packet that matches no rule of any bound list is dropped.

    A list without rules matches nothing.
    """

    kind = "acl"
    no_drops = frozenset({
        "checked packets", "ACL permit packets", "new sessions added", "existing session packets",
    })  # fmt: skip
    tables: ClassVar[tuple[Request, ...]] = (_LISTS,)
    clears = ("acl",)
    gone: ClassVar = {"acl_del": frozenset({-6})}
    down_phase: ClassVar[Phase] = "attach"
    """The phase in which bindings release it."""

    name: str
    rules: tuple[AclRule, ...]

    def __post_init__(self) -> None:
        # One that begins with a dot is of no document: a program's own, before or behind the others.
        check_name(self.name.removeprefix("."))

    @property
    def key(self) -> str:
        """``acl/<name>``."""
        return acl_token(self.name)

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
        """Add the list; it has no effect until bound."""
        reply = self._add_replace(vpp, NEW)
        vpp.remember(self.key, reply, self)

    def update(self, before: Acl, vpp: Access) -> None:
        """Replace the rules in place. VPP resets the list's hit counters to zero, so they are read first."""
        index = acl_index(vpp, self.name)
        vpp.before_acl_change()
        self._add_replace(vpp, index)
        vpp.remember(self.key, index, self)

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
        vpp.call("acl_del", acl_index=acl_index(vpp, self.name))
        vpp.forget(self.key)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[Acl]:
        """The lists that carry our tag."""
        for name, details in dumps.derived(_by_name).items():
            yield cls(name, tuple(details.r))

    def index_in(self, dumps: Dumps) -> int:
        """By our tag."""
        return int(dumps.derived(_by_name)[self.name].acl_index)

    @classmethod
    def duplicates(cls, dumps: Dumps) -> Iterator[Leftover]:
        """Second lists under one tag."""
        ours = dumps.derived(_by_name)
        for details in dumps.table(_LISTS):
            name = dumps.our_name(details.tag)
            if name is not None and ours[name] is not details:
                yield Leftover("duplicate", acl_token(name), details.acl_index, details.tag, "access list")

    @classmethod
    def clear(cls, leftover: Leftover, vpp: Access) -> None:
        """Remove a duplicate."""
        vpp.call("acl_del", acl_index=leftover.index)


def _by_name(dumps: Dumps) -> Mapping[str, Reply]:
    """Our name -> ``acl_details``."""
    return dumps.by_name(dumps.table(_LISTS))


def acl_names(dumps: Dumps) -> dict[int, str]:
    """VPP's index -> our name, of our access lists."""
    return {details.acl_index: name for name, details in dumps.derived(_by_name).items()}


def acl_index(vpp: Access, name: str) -> int:
    """VPP's index of our access list, or of ``#<index>``. Raises ``ObjectMissing``."""
    return int(name[1:]) if name.startswith("#") else vpp.index(acl_token(name), f"access list {name}")
