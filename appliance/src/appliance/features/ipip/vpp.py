"""Tunnels of IP in IP in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.pointer import join
from appliance.dataplane.wanted import Wanted
from appliance.features.ipip.model import Ipip
from appliance.features.tunnels.ends import destination_of, source_of
from vpp_config import VppObject
from vpp_config.objects.ipip import IpipTunnel

PATHS = {IpipTunnel.kind: lambda name: join(["interfaces", name])}


def objects(wanted: Wanted) -> Iterator[VppObject]:
    """The tunnel. The checks ensure that it begins at an address."""
    for name, ipip in wanted.config.interfaces_of(Ipip):
        source = source_of(wanted.config, ipip)
        assert source is not None
        yield IpipTunnel(name, source, destination_of(ipip), mtu=ipip.mtu, enabled=ipip.enabled)
