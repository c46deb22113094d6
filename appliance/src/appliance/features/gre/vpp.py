"""GRE tunnels in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import vpp_config as vpp
from appliance.config.pointer import join
from appliance.dataplane.wanted import Wanted
from appliance.features.gre.ends import destination_of, source_of
from appliance.features.gre.model import Gre

PATHS = {vpp.GreTunnel.kind: lambda name: join(["interfaces", name])}


def objects(wanted: Wanted) -> Iterator[vpp.VppObject]:
    """The tunnel. Checks have seen to it that it begins at an address."""
    for name, gre in wanted.config.interfaces_of(Gre):
        source = source_of(wanted.config, gre)
        assert source is not None
        yield vpp.GreTunnel(name, source, destination_of(gre), mtu=gre.mtu, enabled=gre.enabled)
