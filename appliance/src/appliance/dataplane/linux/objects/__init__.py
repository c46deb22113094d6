"""The objects of the linux data plane, one to a file."""

from __future__ import annotations

from appliance.dataplane.linux.objects.base import LinuxObject
from appliance.dataplane.linux.objects.control_plane import ControlPlane
from appliance.dataplane.linux.objects.ethernet_link import EthernetLink
from appliance.dataplane.linux.objects.filter_binding import FilterBinding
from appliance.dataplane.linux.objects.filter_list import FilterList
from appliance.dataplane.linux.objects.kernel_settings import KernelSettings
from appliance.dataplane.linux.objects.link import Link
from appliance.dataplane.linux.objects.link_address import LinkAddress
from appliance.dataplane.linux.objects.loopback_link import LoopbackLink
from appliance.dataplane.linux.objects.vlan_link import VlanLink
from appliance.dataplane.linux.objects.vrf_device import VrfDevice
from appliance.dataplane.linux.objects.vrf_member import VrfMember
from planner.kinds import kinds_in

FILES: tuple[tuple[str, ...], ...] = (
    ("kernel_settings",),
    ("control_plane",),
    ("filter_list",),
    ("vrf_device",),
    ("ethernet_link",),
    ("bond_link", "bond_member"),
    ("loopback_link",),
    ("gre_link",),
    ("ipip_link",),
    ("vlan_link",),
    ("vrf_member",),
    ("nat_translation", "nat_mappings", "nat_timeouts", "nat_address"),
    ("filter_binding",),
    ("link_address",),
)
"""The file of each kind; a feature is one line. The order is that of a plan unless a dependency decides."""

KINDS: tuple[type[LinuxObject], ...] = kinds_in(__name__, FILES, LinuxObject)
"""All kinds, in that order."""

MIRROR_KINDS: tuple[type[LinuxObject], ...] = (VrfDevice, VrfMember)
"""The kinds that the mirrors of VPP's interfaces are placed in."""

LINKS: tuple[type[Link], ...] = tuple(kind for kind in KINDS if issubclass(kind, Link))
"""The kinds through which packets enter and leave."""

__all__ = [
    "KINDS",
    "LINKS",
    "ControlPlane",
    "EthernetLink",
    "FilterBinding",
    "FilterList",
    "KernelSettings",
    "Link",
    "LinkAddress",
    "LinuxObject",
    "LoopbackLink",
    "VlanLink",
    "VrfDevice",
    "VrfMember",
]
