"""The access lists that an interface's packets pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from appliance.config.pointer import escape
from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects.base import LinuxObject, link_token
from appliance.dataplane.linux.objects.filter_list import list_token
from planner import Phase


@dataclass(frozen=True)
class FilterBinding(LinuxObject):
    """Access lists of an interface, in order. ``reflect``: sessions of permit_reflect pass both ways.

    nftables knows the interface by name alone, so a binding can exist before its link and after it.
    """

    up_phase: ClassVar[Phase] = "attach"
    down_phase: ClassVar[Phase] = "detach"

    interface: str
    inbound: tuple[str, ...]
    outbound: tuple[str, ...]
    reflect: bool = False

    @property
    def key(self) -> str:
        """``acl_binding/<interface>``."""
        return f"acl_binding/{self.interface}"

    @property
    def path(self) -> str:
        """The interface."""
        return f"/interfaces/{escape(self.interface)}"

    def label(self) -> str:
        """``access lists on wan0``."""
        return f"access lists on {self.interface}"

    def requires(self) -> tuple[str, ...]:
        """The lists."""
        return tuple(list_token(name) for name in dict.fromkeys(self.inbound + self.outbound))

    def rebinds(self) -> tuple[str, ...]:
        """The lists: all of an interface are set in one transaction."""
        return self.requires()

    def guards(self) -> tuple[str, ...]:
        """The link: no packet passes it unfiltered."""
        return (link_token(self.interface),)

    def needs_recreate(self, before: Self) -> bool:
        """Never."""
        return False

    def describe_create(self) -> str:
        """``add access lists on wan0: in edge-in, out none``."""
        return f"add {self.label()}{self._lists()}"

    def describe_update(self, before: Self) -> str:
        """``change access lists on wan0: in edge-in, out none``."""
        return f"change {self.label()}{self._lists()}"

    def _lists(self) -> str:
        return f": in {', '.join(self.inbound) or 'none'}, out {', '.join(self.outbound) or 'none'}"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """The lists to which our table leads packets."""
        for found in dump.ruleset.bindings.values():
            yield cls(found.interface, found.inbound, found.outbound, found.reflect)

    def create(self, kernel: Access) -> None:
        """Bind."""
        kernel.filters.set_binding(self.interface, self)

    def update(self, before: Self, kernel: Access) -> None:
        """Bind the new lists in place of the old."""
        self.create(kernel)

    def delete(self, kernel: Access) -> None:
        """Unbind all."""
        kernel.filters.set_binding(self.interface, None)
