"""NICs in the kernel. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.linux.objects import EthernetLink, LinuxObject
from appliance.dataplane.wanted import Wanted
from appliance.features.ethernet.model import Ethernet


def objects(wanted: Wanted) -> Iterator[LinuxObject]:
    """The NIC, which gets the interface's name."""
    for name, interface in wanted.config.interfaces_of(Ethernet):
        yield EthernetLink(name, wanted.nics[name].device, wanted.mtu(name), interface.enabled)
