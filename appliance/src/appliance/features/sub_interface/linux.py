"""VLANs in the kernel. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.linux.objects import LinuxObject, VlanLink
from appliance.dataplane.wanted import Wanted
from appliance.features.sub_interface.kernel import NEED
from appliance.features.sub_interface.model import SubInterface

NEEDS = (NEED,)


def objects(wanted: Wanted) -> Iterator[LinuxObject]:
    """The VLAN on its parent."""
    for name, interface in wanted.config.interfaces_of(SubInterface):
        yield VlanLink(name, interface.parent, interface.vlan_id, interface.mtu, interface.enabled)
