"""Interfaces: names, NICs, parents, MTU, and what the data plane can make."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.checks.context import Context
from appliance.config.interfaces import Ethernet, SubInterface
from appliance.errors import Problem

RESERVED = frozenset(
    (
        *("lo", "all", "default"),
        *("null0", "blackhole", "reject", "pimreg"),
        *("tunl0", "gre0", "gretap0", "erspan0", "sit0", "ip6tnl0", "ip6gre0", "ip_vti0", "ip6_vti0"),
        "local0",
    )
)
"""Names that Linux, FRR or VPP give to things of their own."""


def check(context: Context) -> Iterator[Problem]:
    """Each interface by itself and against its parent, and no NIC or VLAN twice."""
    can, interfaces = context.capabilities, context.config.interfaces
    if len(interfaces) > can.max_interfaces:
        yield Problem(
            "/interfaces", f"the {can.driver} data plane has at most {can.max_interfaces} interfaces"
        )
    nics: dict[tuple[str, str], str] = {}
    vlans: dict[tuple[str, int], str] = {}
    for name, interface in sorted(interfaces.items()):
        path = f"/interfaces/{name}"
        if name in RESERVED:
            yield Problem(path, f"the name {name} is reserved")
        if interface.mtu > can.max_mtu:
            yield Problem(f"{path}/mtu", f"the {can.driver} data plane has an MTU of at most {can.max_mtu}")
        if isinstance(interface, Ethernet):
            yield from _ethernet(context, name, interface, nics)
        elif isinstance(interface, SubInterface):
            yield from _sub_interface(context, name, interface, vlans)


def _ethernet(
    context: Context, name: str, interface: Ethernet, nics: dict[tuple[str, str], str]
) -> Iterator[Problem]:
    path = f"/interfaces/{name}"
    for kind in ("mac", "pci", "device"):
        value = getattr(interface.match, kind)
        if value is None:
            continue
        if (other := nics.setdefault((kind, value), name)) != name:
            yield Problem(f"{path}/match/{kind}", f"{value} is already the NIC of {other}")
        if kind == "mac" and int(value[:2], 16) & 1:
            yield Problem(f"{path}/match/mac", f"{value} is a multicast address; no NIC has it")
    if interface.driver not in context.capabilities.nic_drivers:
        able = ", ".join(context.capabilities.nic_drivers)
        yield Problem(
            f"{path}/driver", f"the {context.capabilities.driver} data plane here drives NICs by {able}"
        )


def _sub_interface(
    context: Context, name: str, interface: SubInterface, vlans: dict[tuple[str, int], str]
) -> Iterator[Problem]:
    path = f"/interfaces/{name}"
    if not context.capabilities.vlan:
        yield Problem(
            f"{path}/type", "this machine's kernel has no 802.1Q support, so there are no sub-interfaces"
        )
    parent = context.config.interfaces.get(interface.parent)
    if parent is None:
        return
    if not isinstance(parent, Ethernet):
        yield Problem(f"{path}/parent", f"{interface.parent} is a {parent.type}, not an ethernet interface")
        return
    other = vlans.setdefault((interface.parent, interface.vlan_id), name)
    if other != name:
        yield Problem(f"{path}/vlan_id", f"VLAN {interface.vlan_id} of {interface.parent} is already {other}")
    if interface.mtu > parent.mtu:
        yield Problem(f"{path}/mtu", f"is greater than the MTU of {interface.parent}, {parent.mtu}")
