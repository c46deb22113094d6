"""What every interface has in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import vpp_config as vpp
from appliance.config.interface_address import address_of
from appliance.config.pointer import join
from appliance.dataplane.wanted import Wanted

PATHS = {
    vpp.LcpPair.kind: lambda name: join(["interfaces", name]),
    vpp.Address.kind: lambda name: join(["interfaces", name, "addresses"]),
}


def objects(wanted: Wanted) -> Iterator[vpp.VppObject]:
    """A mirror in the kernel, and the addresses. An interface that is part of another has neither."""
    for name, interface in wanted.config.interfaces.items():
        if wanted.whole(name) is None:
            yield vpp.LcpPair(name, name, wanted.netns, "tap" if interface.is_ethernet else "tun")
        for address in interface.addresses:
            yield vpp.Address(name, address_of(address))
