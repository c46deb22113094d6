"""The objects of the linux data plane, one to a file."""

from __future__ import annotations

from appliance.dataplane.linux.objects.base import LinuxObject
from appliance.dataplane.linux.objects.bond_link import BondLink
from appliance.dataplane.linux.objects.bond_member import BondMember
from appliance.dataplane.linux.objects.control_plane import ControlPlane
from appliance.dataplane.linux.objects.ethernet_link import EthernetLink
from appliance.dataplane.linux.objects.filter_binding import FilterBinding
from appliance.dataplane.linux.objects.filter_list import FilterList
from appliance.dataplane.linux.objects.gre_link import GreLink
from appliance.dataplane.linux.objects.kernel_settings import KernelSettings
from appliance.dataplane.linux.objects.link import Link
from appliance.dataplane.linux.objects.link_address import LinkAddress
from appliance.dataplane.linux.objects.loopback_link import LoopbackLink
from appliance.dataplane.linux.objects.nat_address import NatAddress
from appliance.dataplane.linux.objects.nat_mappings import NatMappings
from appliance.dataplane.linux.objects.nat_timeouts import NatTimeouts
from appliance.dataplane.linux.objects.nat_translation import NatTranslation
from appliance.dataplane.linux.objects.vlan_link import VlanLink
from appliance.dataplane.linux.objects.vrf_device import VrfDevice
from appliance.dataplane.linux.objects.vrf_member import VrfMember

KINDS: tuple[type[LinuxObject], ...] = (
    KernelSettings,
    ControlPlane,
    FilterList,
    VrfDevice,
    EthernetLink,
    BondLink,
    BondMember,
    LoopbackLink,
    GreLink,
    VlanLink,
    VrfMember,
    NatTranslation,
    NatMappings,
    NatTimeouts,
    FilterBinding,
    LinkAddress,
    NatAddress,
)
"""All kinds, one line each. The order is that of a plan where no dependency decides."""

MIRROR_KINDS: tuple[type[LinuxObject], ...] = (VrfDevice, VrfMember)
"""Those that the mirrors of VPP's interfaces are put into."""

LINKS: tuple[type[Link], ...] = tuple(kind for kind in KINDS if issubclass(kind, Link))
"""The kinds that packets enter and leave by."""

__all__ = [
    "KINDS",
    "LINKS",
    "BondLink",
    "BondMember",
    "ControlPlane",
    "EthernetLink",
    "FilterBinding",
    "FilterList",
    "KernelSettings",
    "Link",
    "LinkAddress",
    "LinuxObject",
    "LoopbackLink",
    "NatAddress",
    "NatMappings",
    "NatTimeouts",
    "NatTranslation",
    "VlanLink",
    "VrfDevice",
    "VrfMember",
]
