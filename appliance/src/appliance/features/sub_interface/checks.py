"""VLANs."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context
from appliance.errors import Problem
from appliance.features.sub_interface.model import SubInterface


def check(context: Context) -> Iterator[Problem]:
    """Each is on an interface that takes VLANs, within its MTU; no VLAN of an interface occurs twice."""
    vlans: dict[tuple[str, int], str] = {}
    for name, interface in sorted(context.config.interfaces_of(SubInterface)):
        path = f"/interfaces/{name}"
        parent = context.config.interfaces.get(interface.parent)
        if parent is None:
            continue
        if not parent.takes_vlans:
            message = f"{interface.parent} is a {parent.kind_words}, which takes no VLANs"
            yield Problem(f"{path}/parent", message)
            continue
        other = vlans.setdefault((interface.parent, interface.vlan_id), name)
        if other != name:
            message = f"VLAN {interface.vlan_id} of {interface.parent} is already taken by {other}"
            yield Problem(f"{path}/vlan_id", message)
        if interface.mtu > parent.mtu:
            yield Problem(f"{path}/mtu", f"must be at most the MTU of {interface.parent}, {parent.mtu}")
