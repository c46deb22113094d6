"""What the router lets in for itself, as rules of the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Self

from appliance.dataplane.control_plane import policy
from appliance.dataplane.control_plane.step import WHAT, describe
from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects.base import LinuxObject


@dataclass(frozen=True)
class ControlPlane(policy.ControlPlane, LinuxObject):
    """The rules for packets to the router itself.

    nftables knows interfaces by name alone, so the rules can exist before the links and after them. They
    change in phase ``create``: :mod:`appliance.dataplane.control_plane.step` says why.
    """

    @classmethod
    def of(cls, found: policy.ControlPlane) -> Self:
        """The object that makes the kernel let these packets in."""
        return cls(**{part.name: getattr(found, part.name) for part in fields(found)})

    def label(self) -> str:
        """As words."""
        return WHAT

    def needs_recreate(self, before: Self) -> bool:
        """Never: unchanged rules keep their counts."""
        return False

    def describe_create(self) -> str:
        """``add protection of the router itself: open ssh on wan0``."""
        return f"add {self.label()}{describe(None, self)}"

    def describe_update(self, before: Self) -> str:
        """``change protection of the router itself: open BGP from 192.0.2.1``."""
        return f"change {self.label()}{describe(before, self)}"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """What our table lets in; none if there is no table."""
        if dump.control_plane is not None:
            yield cls.of(dump.control_plane)

    def create(self, kernel: Access) -> None:
        """Make the rules, replacing existing ones in one transaction."""
        kernel.control_plane.change(self)

    def update(self, before: Self, kernel: Access) -> None:
        """Change the rules in one transaction."""
        self.create(kernel)

    def delete(self, kernel: Access) -> None:
        """Remove the rules; no error if they are gone."""
        kernel.control_plane.change(None)
