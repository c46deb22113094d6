"""VRFs in the kernel: they forward on the linux data plane, and hold the mirrors next to VPP."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.kernel_need import KernelNeed
from appliance.dataplane.linux.objects import LinuxObject, VrfDevice, VrfMember
from appliance.dataplane.wanted import Wanted
from appliance.features.vrf.model import table_of

NEED = KernelNeed("vrf", "vrf", "this machine's kernel has no VRFs (module vrf)")


def devices(wanted: Wanted) -> Iterator[LinuxObject]:
    """The devices, and the interfaces in them. An interface that is part of another is in none."""
    for name, vrf in wanted.config.vrfs.items():
        yield VrfDevice(name, table_of(name, vrf))
    for name, interface in wanted.config.interfaces.items():
        if interface.vrf is not None:
            yield VrfMember(interface.vrf, name)
