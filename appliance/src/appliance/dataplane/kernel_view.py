"""What the kernel of a namespace knows and supports: its neighbours, its kinds of link. Called inside it."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from appliance.dataplane.namespace import Namespace, attributes
from appliance.dataplane.rtnetlink import NetlinkError
from appliance.state.neighbors import NeighborState

_STATES = {
    1: "incomplete",
    2: "reachable",
    4: "stale",
    8: "delay",
    16: "probe",
    32: "failed",
    128: "permanent",
}
_NOARP = 0x40
_PERMANENT = 0x80
_PROBE = "mr-link-probe"


def link_supported(space: Namespace, kind: str) -> bool:
    """Whether the kernel can make links of this kind: one is requested, and not left in place.

    A kernel that knows the kind makes the link, or refuses it for another reason.
    """
    try:
        space.route().link("add", ifname=_PROBE, kind=kind)
    except NetlinkError as error:
        return bool(error.code != errno.EOPNOTSUPP)
    space.route().link("del", index=space.route().link_lookup(ifname=_PROBE)[0])
    return True


def kernel_neighbors(space: Namespace) -> list[NeighborState]:
    """ARP and ND entries that carry information."""
    route = space.route()
    names = {message["index"]: attributes(message)["IFLA_IFNAME"] for message in route.get_links()}
    found = []
    for message in route.get_neighbours():
        known = attributes(message)
        if message["state"] == _NOARP or "NDA_DST" not in known or message["ifindex"] not in names:
            continue
        found.append(
            NeighborState(
                interface=names[message["ifindex"]],
                address=known["NDA_DST"],
                mac=known.get("NDA_LLADDR"),
                state=_STATES.get(message["state"], str(message["state"])),
            )
        )
    return found


def forget_kernel_neighbors(space: Namespace, interface: str | None, address: str | None) -> int:
    """Forget learned entries, all or those of an interface or an address; returns how many there were."""
    route = space.route()
    names = {message["index"]: attributes(message)["IFLA_IFNAME"] for message in route.get_links()}
    forgotten = 0
    for message in route.get_neighbours():
        name, known = names.get(message["ifindex"]), attributes(message).get("NDA_DST")
        if message["state"] & (_NOARP | _PERMANENT) or known is None or name is None:
            continue
        if interface not in (None, name) or address not in (None, known):
            continue
        with _unless_gone():
            route.neigh("del", dst=known, ifindex=message["ifindex"], family=message["family"])
            forgotten += 1
    return forgotten


@contextmanager
def _unless_gone() -> Iterator[None]:
    """An entry that is already gone needs no removal."""
    try:
        yield
    except NetlinkError as error:
        if error.code not in (errno.ENOENT, errno.ENODEV):
            raise
