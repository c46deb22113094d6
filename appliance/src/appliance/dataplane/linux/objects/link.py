"""What every kind of link has in common: name, MTU, state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Self

from appliance.config.pointer import escape
from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.linux.access import Access, saying
from appliance.dataplane.linux.dump import Dump, LinkRow
from appliance.dataplane.linux.objects.base import LinuxObject, link_token


class Link(LinuxObject):
    """Packets enter and leave by it: made down, and set up once everything else of the interface exists."""

    name: str
    mtu: int
    enabled: bool

    type: ClassVar[str]
    """What the document calls the kind."""

    @property
    def key(self) -> str:
        """``interface/<name>``: links share one set of names, whatever their kind."""
        return link_token(self.name)

    @property
    def path(self) -> str:
        """The interface."""
        return f"/interfaces/{escape(self.name)}"

    @property
    def carries(self) -> bool:
        """Whether it is up."""
        return self.enabled

    def quiet(self) -> Self:
        """The same link, down."""
        return replace(self, enabled=False)  # type: ignore[type-var]  # the subclasses are dataclasses

    def needs_recreate(self, before: Self) -> bool:
        """Another kind, or another object of the kind."""
        return type(before) is not type(self) or self.identity() != before.identity()

    @abstractmethod
    def identity(self) -> tuple[object, ...]:
        """The part that cannot change unless the link is made anew."""

    def shrinks(self, before: Self) -> bool:
        """A lower MTU comes before that of the outer link: the kernel clamps the inner one to it."""
        return self.mtu < before.mtu

    def describe_update(self, before: Self) -> str:
        """``change interface wan0 on eth1: MTU 1400, up``."""
        parts = [f"MTU {self.mtu}"] if self.mtu != before.mtu else []
        if self.enabled != before.enabled:
            parts.append("up" if self.enabled else "down")
        return f"change {self.label()}: {', '.join(parts)}"

    def removal_impact(self) -> str:
        """Its packets are lost while it is gone."""
        return f"loses packets on {self.name}" if self.enabled else "none"

    def update_impact(self, before: Self) -> str:
        """Going down loses packets."""
        return f"loses packets on {self.name}" if before.enabled and not self.enabled else "none"

    # What is shown of it.

    @property
    def parent_and_vlan(self) -> tuple[str | None, int | None]:
        """The parent of a sub-interface, and its VLAN."""
        return None, None

    @property
    def nic(self) -> str | None:
        """The NIC's own name."""
        return None

    # Reading and changing.

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """The links that this program made or renamed."""
        for row in dump.ours.values():
            item = cls.read(row, dump)
            if item is not None:
                yield item

    @classmethod
    @abstractmethod
    def read(cls, row: LinkRow, dump: Dump) -> Self | None:
        """The link, if it is of this kind."""

    @abstractmethod
    def make(self, kernel: Access) -> int:
        """Make the link, marked as ours; the kernel's index of it."""

    def remove(self, index: int, kernel: Access) -> None:
        """Remove the link that is there."""
        kernel.route.link("del", index=index)

    def create(self, kernel: Access) -> None:
        """Make it, unless it exists, with its MTU and state."""
        index = kernel.index(self.name)
        if index is None:
            with saying(f"make {self.name}"):
                index = self.make(kernel)
        with saying(f"set the MTU of {self.name} to {self.mtu}"):
            kernel.route.link("set", index=index, mtu=self.mtu)
        with saying(f"set {self.name} {'up' if self.enabled else 'down'}"):
            kernel.route.link("set", index=index, state="up" if self.enabled else "down")

    def update(self, before: Self, kernel: Access) -> None:
        """MTU and state in place."""
        self.create(kernel)

    def delete(self, kernel: Access) -> None:
        """Remove it; no error if it is gone."""
        index = kernel.index(self.name)
        if index is not None:
            with saying(f"remove {self.name}"):
                self.remove(index, kernel)


def marked(name: str, alias: str, kernel: Access) -> int:
    """Mark a link just made as ours; the kernel's index of it."""
    index = kernel.index(name)
    if index is None:
        raise DataPlaneError(f"{name} was made but does not exist")
    kernel.route.link("set", index=index, ifalias=alias)
    return index
