"""Kernel settings of the router's namespace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from appliance.dataplane.linux.access import Access, saying
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects.base import LinuxObject
from appliance.dataplane.linux.sysctl import FORWARDING
from appliance.dataplane.namespace import read_sysctl, write_sysctl

_LO = 1
"""The kernel's index of every namespace's ``lo``."""
_NAMED = 4
"""Settings named in a summary."""


@dataclass(frozen=True)
class KernelSettings(LinuxObject):
    """Sysctls of the namespace, sorted by name, and whether its ``lo`` is up."""

    values: tuple[tuple[str, str], ...]
    loopback_up: bool = True

    @property
    def key(self) -> str:
        """``kernel``: there is only one."""
        return "kernel"

    def label(self) -> str:
        """As words."""
        return "kernel settings of the namespace"

    def needs_recreate(self, before: Self) -> bool:
        """Never."""
        return False

    def describe_update(self, before: Self) -> str:
        """``change kernel settings of the namespace: net/ipv4/ip_forward``."""
        old = dict(before.values)
        names = [name for name, value in self.values if old.get(name) != value]
        return f"change {self.label()}: {', '.join(names[:_NAMED])}" if names else f"change {self.label()}"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """The present settings of a forwarding namespace."""
        values = tuple((name, read_sysctl(name) or "") for name, _ in FORWARDING)
        yield cls(values, any(row.index == _LO and row.up for row in dump.links))

    def create(self, kernel: Access) -> None:
        """Set those that differ."""
        for name, value in self.values:
            if read_sysctl(name) != value:
                write_sysctl(name, value)
        with saying("set lo up"):
            kernel.route.link("set", index=_LO, state="up" if self.loopback_up else "down")

    def update(self, before: Self, kernel: Access) -> None:
        """Set those that differ."""
        self.create(kernel)

    def delete(self, kernel: Access) -> None:
        """The settings stay as they are: a kernel always has some."""
