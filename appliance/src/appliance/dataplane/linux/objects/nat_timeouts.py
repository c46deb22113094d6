"""When the kernel forgets idle sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects.base import LinuxObject
from appliance.dataplane.linux.objects.nat_translation import NAT
from appliance.dataplane.namespace import read_sysctl, write_sysctl

_BASE = "net/netfilter/nf_conntrack_"
_UDP = ("udp_timeout", "udp_timeout_stream")
_TRANSITORY = tuple(
    f"tcp_timeout_{state}"
    for state in ("syn_sent", "syn_recv", "fin_wait", "close_wait", "last_ack", "time_wait")
)
_DEFAULTS: Mapping[str, int] = {
    "udp_timeout": 30,
    "udp_timeout_stream": 120,
    "tcp_timeout_established": 432000,
    **dict(zip(_TRANSITORY, (120, 60, 120, 60, 30, 120), strict=True)),
    "icmp_timeout": 30,
}
"""The kernel's defaults (Documentation/networking/nf_conntrack-sysctl.rst)."""


@dataclass(frozen=True)
class NatTimeouts(LinuxObject):
    """Sysctls of connection tracking, in seconds by name, sorted. They count for all that is tracked."""

    values: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, udp_s: int, tcp_established_s: int, tcp_transitory_s: int, icmp_s: int) -> Self:
        """The document's four."""
        values = dict.fromkeys(_UDP, udp_s) | dict.fromkeys(_TRANSITORY, tcp_transitory_s)
        values |= {"tcp_timeout_established": tcp_established_s, "icmp_timeout": icmp_s}
        return cls(tuple(sorted(values.items())))

    @property
    def key(self) -> str:
        """``nat_timeouts``: there is only one."""
        return "nat_timeouts"

    @property
    def path(self) -> str:
        """NAT's timeouts in the document."""
        return "/nat/timeouts"

    def label(self) -> str:
        """As words."""
        return "NAT timeouts"

    def requires(self) -> tuple[str, ...]:
        """The table, for which the kernel tracks connections."""
        return (NAT,)

    def needs_recreate(self, before: Self) -> bool:
        """Never."""
        return False

    def describe_update(self, before: Self) -> str:
        """``change NAT timeouts: udp_timeout 300 s``."""
        old = dict(before.values)
        parts = [f"{name} {value} s" for name, value in self.values if old.get(name) != value]
        return f"change {self.label()}: {', '.join(parts)}"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """The timeouts as set; none if all are the kernel's defaults."""
        found = {name: read_sysctl(_BASE + name) for name in _DEFAULTS}
        values = {name: int(text) for name, text in found.items() if text is not None and text.isdecimal()}
        if values and values != _DEFAULTS:
            yield cls(tuple(sorted(values.items())))

    def create(self, kernel: Access) -> None:
        """Set them."""
        for name, value in self.values:
            write_sysctl(_BASE + name, str(value))

    def update(self, before: Self, kernel: Access) -> None:
        """Set them."""
        self.create(kernel)

    def delete(self, kernel: Access) -> None:
        """Restore the kernel's defaults."""
        for name, value in _DEFAULTS.items():
            write_sysctl(_BASE + name, str(value))
