"""Loopbacks in the kernel. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.linux.objects import LinuxObject, LoopbackLink
from appliance.dataplane.wanted import Wanted
from appliance.features.loopback.model import Loopback


def objects(wanted: Wanted) -> Iterator[LinuxObject]:
    """The link."""
    for name, interface in wanted.config.interfaces_of(Loopback):
        yield LoopbackLink(name, interface.mtu, interface.enabled)
