"""The calls common to all kinds of interface: tag, MTU, administrative state."""

from __future__ import annotations

import contextlib
import time
from ipaddress import IPv4Address, IPv6Address

from vpp_config.access import Access
from vpp_config.errors import VppApiError
from vpp_config.objects.base import Interface
from vpp_config.tokens import interface_token

ADMIN_UP = 1
ALL = 0xFFFFFFFF
_HEARD_S = 30.0
"""Longer than linux_nl takes for the messages of a full Internet table."""
_NO_MAC = "00:00:00:00:00:00"


def tag(vpp: Access, name: str, index: int) -> None:
    """Mark the interface as ours, under our name."""
    # Remembered first: if VPP refuses the tag, the interface can still be found and removed.
    vpp.remember(interface_token(name), index)
    vpp.call("sw_interface_tag_add_del", is_add=True, sw_if_index=index, tag=vpp.prefix + name)


def settle(vpp: Access, item: Interface, index: int, *, has_link_mtu: bool = False) -> None:
    """The steps after an interface is made: tag, MTU, state. A device with an MTU of its own
    (``has_link_mtu``) gets that too.

    Otherwise linux_nl would set it to the mirror's when the mirror is made, and VPP would give it to all
    sub-interfaces.
    """
    tag(vpp, item.name, index)
    if has_link_mtu:
        # There are no sub-interfaces yet whose MTU would have to be restored.
        _set_device_mtu(vpp, index, item.mtu)
    set_l3_mtu(vpp, index, item.mtu)
    if item.enabled:
        bring(vpp, index, up=True)


def change(vpp: Access, item: Interface, before: Interface, *, has_link_mtu: bool = False) -> None:
    """MTU (with ``has_link_mtu`` the device's as well) and state in place."""
    index = vpp.index_of(item.name)
    if item.mtu != before.mtu:
        if has_link_mtu:
            set_link_mtu(vpp, index, item.mtu)
        set_l3_mtu(vpp, index, item.mtu)
    if item.enabled != before.enabled:
        bring(vpp, index, up=item.enabled)


def set_link_mtu(vpp: Access, index: int, mtu: int) -> None:
    """The MTU of the device itself. Hardware interfaces only.

    VPP then also gives it to all sub-interfaces; their own MTUs are restored.
    """
    rows = vpp.call("sw_interface_dump", sw_if_index=ALL)
    _set_device_mtu(vpp, index, mtu)
    for row in rows:
        if row.sup_sw_if_index == index != row.sw_if_index:
            set_l3_mtu(vpp, row.sw_if_index, row.mtu[0])


def _set_device_mtu(vpp: Access, index: int, mtu: int) -> None:
    vpp.call("hw_interface_set_mtu", sw_if_index=index, mtu=mtu)


def set_l3_mtu(vpp: Access, index: int, mtu: int) -> None:
    """The MTU of IP, the only one that forwarding observes."""
    vpp.call("sw_interface_set_mtu", sw_if_index=index, mtu=[mtu, 0, 0, 0])


def bring(vpp: Access, index: int, *, up: bool) -> None:
    """Administratively up or down. When it comes up, notify the neighbors, which may remember another MAC.

    An interface with a mirror is taken down through the mirror: linux_nl takes it down in VPP when it reaches
    that message, drops the IPv4 routes over it, and has by then processed everything that Linux added before.
    If VPP's interface were taken down first, a route that Linux was adding would remain after that drop. With
    a feeder nothing in VPP listens to the mirror, and zebra reports what becomes of the routes: then only VPP
    is told, and it takes the mirror down too.
    """
    if not up and not vpp.has_feeder and _mirror_goes_down(vpp, index):
        _wait_until_down(vpp, index)
    vpp.call("sw_interface_set_flags", sw_if_index=index, flags=ADMIN_UP if up else 0)
    if up and vpp.supports("arping"):
        for is_ipv6 in (False, True):
            for row in vpp.call("ip_address_dump", sw_if_index=index, is_ipv6=is_ipv6):
                announce(vpp, index, row.prefix.ip)


def is_up(vpp: Access, index: int) -> bool:
    """Whether it is administratively up."""
    rows = vpp.call("sw_interface_dump", sw_if_index=index)
    return any(row.sw_if_index == index and row.flags & ADMIN_UP for row in rows)


def _mirror_goes_down(vpp: Access, index: int) -> bool:
    if not vpp.supports("lcp_itf_pair_get_v2"):
        return False
    pairs = vpp.call("lcp_itf_pair_get_v2", sw_if_index=index)
    mirrors = [pair for pair in pairs if pair.phy_sw_if_index == index]
    return any(vpp.take_down_mirror(mirror.netns, mirror.host_if_name) for mirror in mirrors)


def _wait_until_down(vpp: Access, index: int) -> None:
    ends_s = time.monotonic() + _HEARD_S
    while is_up(vpp, index) and time.monotonic() < ends_s:
        time.sleep(0.005)


def announce(vpp: Access, index: int, address: IPv4Address | IPv6Address) -> None:
    """Send one gratuitous ARP (RFC 826) or unsolicited neighbor advertisement (RFC 4861, 7.2.6).

    Without the plugin arping, or with the interface down, nothing is sent: the message is a courtesy, and its
    absence never an error. Nor is it sent on a layer 3 tunnel, where no neighbor remembers a MAC address: VPP
    26.06 crashes when asked to.
    """
    if vpp.supports("arping") and _has_mac(vpp, index):
        with contextlib.suppress(VppApiError):
            vpp.call("arping", address=address, sw_if_index=index, is_garp=True, repeat=1, interval=0.01)


def _has_mac(vpp: Access, index: int) -> bool:
    rows = vpp.call("sw_interface_dump", sw_if_index=index)
    return any(row.sw_if_index == index and str(row.l2_address) != _NO_MAC for row in rows)
