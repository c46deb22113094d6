"""What every interface has in the kernel. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.linux.objects import LinkAddress, LinuxObject
from appliance.dataplane.wanted import Wanted


def objects(wanted: Wanted) -> Iterator[LinuxObject]:
    """The addresses."""
    for name, interface in wanted.config.interfaces.items():
        for address in interface.addresses:
            yield LinkAddress(name, address)
