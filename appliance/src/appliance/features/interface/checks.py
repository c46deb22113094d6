"""Interfaces of every kind: names, MTU, addresses, and what the data plane can make."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context
from appliance.config.interface_address import IpInterface
from appliance.errors import Problem

RESERVED = frozenset(
    (
        *("lo", "all", "default"),
        *("null0", "blackhole", "reject", "pimreg"),
        *("tunl0", "gre0", "gretap0", "erspan0", "sit0", "ip6tnl0", "ip6gre0", "ip_vti0", "ip6_vti0"),
        "local0",
        *("bfd", "color", "label", "nexthop-vrf", "onlink", "segments", "table", "tag", "vrf"),
    )
)
"""Names that Linux, FRR or VPP use themselves; the last are words of FRR's ``ip route``."""


def check(context: Context) -> Iterator[Problem]:
    """Each interface on its own."""
    can, interfaces = context.capabilities, context.config.interfaces
    if len(interfaces) > can.max_interfaces:
        yield Problem(
            "/interfaces", f"the {can.driver} data plane has at most {can.max_interfaces} interfaces"
        )
    for name, interface in sorted(interfaces.items()):
        path = f"/interfaces/{name}"
        if name in RESERVED:
            yield Problem(path, f"the name {name} is reserved")
        if interface.mtu > can.max_mtu:
            yield Problem(f"{path}/mtu", f"the {can.driver} data plane has an MTU of at most {can.max_mtu}")
        if (lacking := can.lacking.get(interface.type)) is not None:
            yield Problem(f"{path}/type", lacking)


def check_vrf(context: Context) -> Iterator[Problem]:
    """Networks of a VRF may not overlap, except addresses of one network and length on one interface."""
    for version in (4, 6):
        entries = sorted(
            (
                (address, name, index)
                for name, addresses in context.addresses.items()
                for index, address in enumerate(addresses)
                if address.version == version
            ),
            key=lambda entry: (int(entry[0].network.network_address), entry[0].network.prefixlen, entry[1]),
        )
        yield from _overlaps(entries)


def _overlaps(entries: list[tuple[IpInterface, str, int]]) -> Iterator[Problem]:
    """``entries`` are sorted by network: one that contains an entry stands before it and is still open."""
    around: list[tuple[IpInterface, str]] = []
    addresses: dict[IpInterface, str] = {}
    for address, name, index in entries:
        path = f"/interfaces/{name}/addresses/{index}"
        start = int(address.network.network_address)
        while around and int(around[-1][0].network.broadcast_address) < start:
            around.pop()
        if around:
            other, where = around[-1]
            if any(known.ip == address.ip for known, _ in around) and where == name:
                yield Problem(path, f"{address.ip} is on this interface twice")
            elif where != name:
                yield Problem(path, f"{address.network} overlaps {other.network} on {where}")
            elif other.network != address.network:
                yield Problem(path, f"{address.network} overlaps {other.network} on the same interface")
        around.append((address, name))
        addresses[address] = name
