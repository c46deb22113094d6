"""VLANs in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import vpp_config as vpp
from appliance.config.pointer import join
from appliance.dataplane.wanted import Wanted
from appliance.features.sub_interface.kernel import NEED
from appliance.features.sub_interface.model import SubInterface

PATHS = {vpp.SubInterface.kind: lambda name: join(["interfaces", name])}
NEEDS = (NEED,)
"""For the mirrors."""


def objects(wanted: Wanted) -> Iterator[vpp.VppObject]:
    """The VLAN on its parent."""
    for name, interface in wanted.config.interfaces_of(SubInterface):
        yield vpp.SubInterface(
            name, interface.parent, interface.vlan_id, mtu=interface.mtu, enabled=interface.enabled
        )


def _shown(item: vpp.SubInterface) -> dict[str, Any]:
    return {"parent": item.parent, "vlan_id": item.vlan_id}


SHOWN = {vpp.SubInterface.kind: _shown}
