"""NAT for the packets of a bench.

VPP has only one NAT: a bench can have it only if the document does not, and its interfaces show that it is
the bench's.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from appliance.bench import traffic
from appliance.bench.generator import Stream
from appliance.bench.load import Ends, Load

if TYPE_CHECKING:
    # A machine without VPP does not load what drives it.
    from vpp_config import VppClient

_ANY_VRF = 0xFFFFFFFF
_OUTSIDE, _INSIDE = 0x10, 0x20
_FLOWS_OF_A_HOST = 64


def streams(macs: Sequence[str], flows: int) -> traffic.Streams:
    """From inside hosts to 16 servers."""
    first, hosts = str(traffic.FIRST_CLIENT), inside_hosts(flows)
    return Stream("v4", macs[0], first, hosts, "48.0.0.0", 16, flows), None


def inside_hosts(flows: int) -> int:
    """How many hosts this many flows belong to."""
    return max(1, flows // _FLOWS_OF_A_HOST)


def sessions(flows: int) -> int:
    """Room for translations of this many flows, per worker."""
    from appliance.features.nat.model import MOST_SESSIONS

    return min(2 * flows + 1024, MOST_SESSIONS)


class Translation(Load):
    """The left side is inside; the address of the right side, outside, is shared by all."""

    name = "nat"
    packets = "flows that are translated"
    units = "flows"
    usual, most = 1_000, 10_000
    warm = True

    def title(self, size: int) -> str:
        """With the hosts."""
        hosts = inside_hosts(size)
        return f"{size:,} flows of {hosts:,} inside hosts behind one address; packets from inside"

    def passes(self, size: int) -> str:
        """NAT alone."""
        del size
        return "its table has two routes, its interfaces NAT"

    def streams(self, macs: Sequence[str], size: int) -> traffic.Streams:
        """The flows, from inside."""
        return streams(macs, size)

    def heap_bytes(self, size: int, threads: int) -> int:
        """All of it from the start."""
        from appliance.features.nat.memory import taken_bytes

        return taken_bytes(sessions(size), threads)

    def against(self, vpp: VppClient) -> str:
        """Addresses and sessions would also be the document's."""
        if not vpp.supports("nat44_ed_plugin_enable_disable"):
            return "this VPP runs without its plugin nat"
        if _is_on(vpp):
            return (
                "the configuration has NAT, whose addresses and sessions a bench would share: it is "
                "measured where NAT is off"
            )
        return ""

    def put(self, vpp: VppClient, size: int, ends: Ends) -> None:
        """An agent that dies after the first call leaves NAT on; the next plan sees it and disables it."""
        vpp.call("nat44_ed_plugin_enable_disable", enable=True, sessions=sessions(size))
        for index, side in zip(ends.indexes, (_INSIDE, _OUTSIDE), strict=True):
            _set(vpp, index, side, is_add=True)
        address = ip_address(ends.address)
        vpp.call(
            "nat44_add_del_address_range",
            is_add=True,
            first_ip_address=address,
            last_ip_address=address,
            vrf_id=_ANY_VRF,
        )

    def take_from(self, vpp: VppClient, indexes: Sequence[int]) -> None:
        """Off the interfaces first, in the order in which the document's NAT is removed."""
        if not vpp.supports("nat44_ed_plugin_enable_disable") or not _is_on(vpp):
            return
        users = {int(row.sw_if_index): int(row.flags) for row in vpp.dump("nat44_interface_dump")}
        if not users or not users.keys() <= set(indexes):
            return
        for index, flags in users.items():
            for side in (_INSIDE, _OUTSIDE):
                if flags & side:
                    _set(vpp, index, side, is_add=False)
        vpp.call("nat44_ed_plugin_enable_disable", enable=False)


LOAD = Translation()


def _is_on(vpp: VppClient) -> bool:
    return bool(vpp.call("nat44_show_running_config").sessions)


def _set(vpp: VppClient, index: int, side: int, *, is_add: bool) -> None:
    vpp.call("nat44_interface_add_del_feature", is_add=is_add, flags=side, sw_if_index=index)
