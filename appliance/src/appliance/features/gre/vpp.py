"""GRE tunnels in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.pointer import join
from appliance.dataplane.wanted import Wanted
from appliance.features.gre.model import Gre
from appliance.features.tunnels.ends import destination_of, source_of
from vpp_config import VppObject
from vpp_config.objects.gre import GreTunnel

PATHS = {GreTunnel.kind: lambda name: join(["interfaces", name])}


def objects(wanted: Wanted) -> Iterator[VppObject]:
    """The tunnel. The checks ensure that it begins at an address."""
    for name, gre in wanted.config.interfaces_of(Gre):
        source = source_of(wanted.config, gre)
        assert source is not None
        yield GreTunnel(name, source, destination_of(gre), mtu=gre.mtu, enabled=gre.enabled)
