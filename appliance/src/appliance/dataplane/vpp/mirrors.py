"""The kernel's side of the mirrors of VPP's interfaces."""

from __future__ import annotations

import errno

from appliance.dataplane.namespace import Namespace, interface_flags
from appliance.dataplane.rtnetlink import NetlinkError

_UP, _RUNNING = 0x1, 0x40


def take_down(space: Namespace, name: str) -> bool:
    """Take the mirror down, inside ``space``. False if there is none of that name, or it is down."""
    route = space.route()
    found = route.link_lookup(ifname=name)
    if not found or not next(iter(route.get_links(found[0])))["flags"] & _UP:
        return False
    try:
        route.link("set", index=found[0], state="down")
    except NetlinkError as error:
        if error.code != errno.ENODEV:
            raise
        return False
    return True


def has_link(name: str) -> bool:
    """Whether the mirror is up and has a link, inside. Raises DataPlaneError."""
    return interface_flags(name) & (_UP | _RUNNING) == _UP | _RUNNING
