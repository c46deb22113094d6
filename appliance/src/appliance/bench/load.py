"""What the packets of a bench pass besides two routes: many routes, access lists, or NAT.

It is of the bench's own table and interfaces. Lists are known by their tag, and NAT, which VPP has once, by
the bench's interfaces: a bench has NAT only where nobody else has.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from appliance.bench import traffic
from appliance.errors import Conflict

if TYPE_CHECKING:
    # A machine without VPP does not load what drives it.
    from appliance.bench.scenarios import Scenario
    from vpp_config import VppClient
    from vpp_config.client import Reply

_TAG = "millrace-bench-"
_PORTION = 4096
"""Routes that VPP is told of at once: some ms in which its main thread does nothing else."""
_NEW, _ALL, _ANY_VRF = 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF
_OUTSIDE, _INSIDE = 0x10, 0x20


def put(vpp: VppClient, scenario: Scenario, table: int, indexes: Sequence[int], hops: Sequence[str]) -> None:
    """Make it, on the interfaces left and right. Raises VppError, Conflict, with some of it made.

    ``hops`` are the next hop on the left, and the router's address on the right.
    """
    if scenario.name == "fib":
        _routes(vpp, scenario.size, table, indexes[0], hops[0])
    elif scenario.name == "acl":
        for side, index in enumerate(indexes):
            rules = traffic.access_list(scenario.size, side)
            made = vpp.call("acl_add_replace", acl_index=_NEW, tag=f"{_TAG}{side}", count=len(rules), r=rules)
            _bind(vpp, index, [int(made.acl_index)])
    elif scenario.name == "nat":
        vpp.call("nat44_ed_plugin_enable_disable", enable=True, sessions=traffic.sessions(scenario.size))
        for index, flags in zip(indexes, (_INSIDE, _OUTSIDE), strict=True):
            vpp.call("nat44_interface_add_del_feature", is_add=True, flags=flags, sw_if_index=index)
        address = ip_address(hops[1])
        vpp.call(
            "nat44_add_del_address_range",
            is_add=True,
            first_ip_address=address,
            last_ip_address=address,
            vrf_id=_ANY_VRF,
        )


def take_from(vpp: VppClient, indexes: Sequence[int]) -> None:
    """Lists and NAT, off these interfaces of a bench, which are there yet. Raises VppError."""
    if is_translating(vpp):
        users = {int(row.sw_if_index) for row in vpp.dump("nat44_interface_dump")}
        if users and users <= set(indexes):
            vpp.call("nat44_ed_plugin_enable_disable", enable=False)
    if has_lists(vpp):
        for index in indexes:
            _bind(vpp, index, [])
        for row in lists(vpp):
            vpp.call("acl_del", acl_index=int(row.acl_index))


def lists(vpp: VppClient) -> list[Reply]:
    """The access lists of a bench."""
    if not has_lists(vpp):
        return []
    return [row for row in vpp.dump("acl_dump", acl_index=_ALL) if str(row.tag).startswith(_TAG)]


def has_lists(vpp: VppClient) -> bool:
    """Whether this VPP knows access lists."""
    return vpp.supports("acl_interface_set_acl_list")


def are_bound(vpp: VppClient) -> bool:
    """Whether a list is bound anywhere."""
    return has_lists(vpp) and any(
        int(row.count) for row in vpp.dump("acl_interface_list_dump", sw_if_index=_ALL)
    )


def can_translate(vpp: VppClient) -> bool:
    """Whether this VPP knows NAT."""
    return vpp.supports("nat44_ed_plugin_enable_disable")


def is_translating(vpp: VppClient) -> bool:
    """Whether NAT is on, whoever wants it."""
    return can_translate(vpp) and bool(vpp.call("nat44_show_running_config").sessions)


def _bind(vpp: VppClient, index: int, bound: list[int]) -> None:
    count = len(bound)
    vpp.call("acl_interface_set_acl_list", sw_if_index=index, count=count, n_input=count, acls=bound)


def _routes(vpp: VppClient, count: int, table: int, index: int, hop: str) -> None:
    """By VPP's command line, which counts prefixes up itself: a message for each takes ten times as long."""
    name = next(
        str(row.interface_name) for row in vpp.dump("sw_interface_dump") if int(row.sw_if_index) == index
    )
    for first in range(0, count, _PORTION):
        portion = min(_PORTION, count - first)
        prefix = f"{traffic.FIRST_CLIENT + first}/32"
        command = f"ip route add {prefix} table {table} count {portion} via {hop} {name}"
        said = str(vpp.call("cli_inband", cmd=command).reply)
        if "routes/sec" not in said and said.strip():
            raise Conflict(f"VPP takes no routes: {said.strip()[:200]}")
