"""Tunnels of IP in IP in the kernel. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.kernel_need import KernelNeed
from appliance.dataplane.linux.objects import LinuxObject
from appliance.dataplane.linux.objects.ipip_link import IpipLink
from appliance.dataplane.wanted import Wanted
from appliance.features.ipip.model import Ipip
from appliance.features.tunnels.ends import destination_of, source_of

NEEDS = (
    KernelNeed("ipip", "sit", "this machine's kernel has no tunnels of IP in IPv4"),
    KernelNeed("ipip_over_ipv6", "ip6tnl", "this machine's kernel has tunnels of IP in IPv4 only"),
)


def objects(wanted: Wanted) -> Iterator[LinuxObject]:
    """The tunnel. The checks ensure that it begins at an address."""
    for name, ipip in wanted.config.interfaces_of(Ipip):
        source = source_of(wanted.config, ipip)
        assert source is not None
        yield IpipLink(name, str(source), str(destination_of(ipip)), ipip.mtu, ipip.enabled)
