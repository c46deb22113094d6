"""Packets through a namespace by family, as the kernel counts them (RFC 4293), in three files of /proc."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from appliance.dataplane.base import DataPlaneError, Traffic

_PROC = Path("/proc/thread-self/net")
"""Of this thread, which lives in the namespace."""
_REASONS4 = {"InNoRoutes": "no route (IPv4)", "FragFails": "larger than the MTU (IPv4)"}
_REASONS6 = {"Ip6InNoRoutes": "no route (IPv6)", "Ip6InTooBigErrors": "larger than the MTU (IPv6)"}


def kernel_traffic(dropped: Mapping[str, int], proc: Path = _PROC) -> Traffic:
    """The counters of this thread's namespace, with ``dropped`` beside them. Raises DataPlaneError."""
    try:
        v4, v6 = (
            _ipv4((proc / "snmp").read_text() + (proc / "netstat").read_text()),
            _ipv6((proc / "snmp6").read_text()),
        )
    except (OSError, ValueError, IndexError) as error:
        raise DataPlaneError(f"the kernel's IP counters cannot be read: {error}") from error
    reasons = {said: v4.get(name, 0) for name, said in _REASONS4.items()}
    reasons |= {said: v6.get(name, 0) for name, said in _REASONS6.items()}
    return Traffic(
        {
            "ipv4": v4.get("InReceives", 0) - v4.get("InDelivers", 0),
            "ipv6": v6.get("Ip6InReceives", 0) - v6.get("Ip6InDelivers", 0),
        },
        {"ipv4": v4.get("ForwDatagrams", 0), "ipv6": v6.get("Ip6OutForwDatagrams", 0)},
        {**reasons, **dropped},
    )


def _ipv4(text: str) -> dict[str, int]:
    """A line of names and a line of values for each of two groups."""
    found: dict[str, int] = {}
    for group in ("Ip:", "IpExt:"):
        names, values = (line.split()[1:] for line in text.splitlines() if line.startswith(group))
        found |= zip(names, map(int, values), strict=True)
    return found


def _ipv6(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}
