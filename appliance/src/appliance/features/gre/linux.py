"""GRE tunnels in the kernel. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.kernel_need import KernelNeed
from appliance.dataplane.linux.objects import LinuxObject
from appliance.dataplane.linux.objects.gre_link import GreLink
from appliance.dataplane.wanted import Wanted
from appliance.features.gre.model import Gre
from appliance.features.tunnels.ends import destination_of, source_of

NEEDS = (
    KernelNeed("gre", "gre", "this machine's kernel has no GRE, so there are no tunnels"),
    KernelNeed("gre_over_ipv6", "ip6gre", "this machine's kernel has no GRE over IPv6, only over IPv4"),
)


def objects(wanted: Wanted) -> Iterator[LinuxObject]:
    """The tunnel. The checks ensure that it begins at an address."""
    for name, gre in wanted.config.interfaces_of(Gre):
        source = source_of(wanted.config, gre)
        assert source is not None
        yield GreLink(name, str(source), str(destination_of(gre)), gre.mtu, gre.enabled)
