"""What the kernel of a namespace knows: routes, neighbours, what it supports. Called inside it."""

from __future__ import annotations

import errno
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from appliance.dataplane.namespace import Namespace, attributes
from appliance.dataplane.route_dump import Family, KernelRoute, dump_routes

_PROTOCOLS = {2: "kernel", 3: "boot", 4: "static", 11: "zebra", 186: "bgp", 188: "ospf", 196: "static"}
"""Numbers of /etc/iproute2/rt_protos; FRR's static routes are 196."""
_KINDS = {1: "unicast", 2: "local", 6: "blackhole", 7: "unreachable", 8: "prohibit"}
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
FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")


def vlan_supported(space: Namespace) -> bool:
    """Whether the kernel has 802.1Q: asked with a request that is refused either way, but differently."""
    try:
        space.route().link("add", ifname="mr-vlan-probe", kind="vlan")
    except NetlinkError as error:
        return bool(error.code != errno.EOPNOTSUPP)
    space.route().link("del", index=space.route().link_lookup(ifname="mr-vlan-probe")[0])
    return True


def kernel_routes(space: Namespace, prefix: str | None, family: str | None) -> list[dict[str, Any]]:
    """Routes of the main table: all, or those of one prefix and longer ones inside it."""
    names = {message["index"]: attributes(message)["IFLA_IFNAME"] for message in space.route().get_links()}
    within = ip_network(prefix) if prefix is not None else None
    if within is not None:
        family = "ipv6" if within.version == 6 else "ipv4"
    return [
        _row(route, names)
        for known in FAMILIES
        if family in (None, known)
        for route in dump_routes(known)
        if within is None or _inside(route.prefix, within)
    ]


def _inside(prefix: str, within: IPv4Network | IPv6Network) -> bool:
    network = ip_network(prefix)
    return within.prefixlen <= network.prefixlen and network.network_address in within


def _row(route: KernelRoute, names: dict[int, str]) -> dict[str, Any]:
    protocol = _PROTOCOLS.get(route.protocol, str(route.protocol))
    return {
        "prefix": route.prefix,
        "next_hops": [
            {"address": hop.address, "interface": names.get(hop.interface_index or 0), "weight": hop.weight}
            for hop in route.hops
        ],
        "kind": _KINDS.get(route.kind, str(route.kind)),
        "protocol": protocol,
        "source": protocol,
        "metric": route.metric,
    }


def kernel_neighbors(space: Namespace) -> list[dict[str, Any]]:
    """ARP and ND entries that tell something."""
    route = space.route()
    names = {message["index"]: attributes(message)["IFLA_IFNAME"] for message in route.get_links()}
    found = []
    for message in route.get_neighbours():
        known = attributes(message)
        if message["state"] == _NOARP or "NDA_DST" not in known or message["ifindex"] not in names:
            continue
        found.append(
            {
                "interface": names[message["ifindex"]],
                "address": known["NDA_DST"],
                "mac": known.get("NDA_LLADDR"),
                "state": _STATES.get(message["state"], str(message["state"])),
            }
        )
    return found
