"""VRFs in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import vpp_config as vpp
from appliance.config.pointer import join
from appliance.dataplane.wanted import Wanted
from appliance.features.vrf.kernel import NEED, devices
from appliance.features.vrf.model import table_of

NEEDS = (NEED,)
PATHS = {
    vpp.VrfTable.kind: lambda _table: "/vrfs",
    vpp.InterfaceVrf.kind: lambda name: join(["interfaces", name, "vrf"]),
}
_FAMILIES: tuple[Literal["ipv4", "ipv6"], ...] = ("ipv4", "ipv6")


def objects(wanted: Wanted) -> Iterator[vpp.VppObject]:
    """A table for each family, and the interfaces in them."""
    tables = {name: table_of(name, vrf) for name, vrf in wanted.config.vrfs.items()}
    for family in _FAMILIES:
        for name, table in tables.items():
            yield vpp.VrfTable(table, name, family)
        for name, interface in wanted.config.interfaces.items():
            if interface.vrf is not None:
                yield vpp.InterfaceVrf(name, family, tables[interface.vrf])


beside = devices
"""The mirrors are in VRFs of the kernel with the same tables, through which FRR knows them."""
