"""The objects of VPP's configuration, one to a file."""

from __future__ import annotations

from planner.kinds import kinds_in
from vpp_config.objects.acl import Acl
from vpp_config.objects.acl_binding import AclBinding
from vpp_config.objects.acl_rule import ALL_CODES, ANY, AclRule, Action
from vpp_config.objects.address import Address
from vpp_config.objects.base import Family, Interface, VppObject
from vpp_config.objects.ethernet import AfPacket, Attachment, Dpdk, Ethernet, VirtioPci
from vpp_config.objects.interface_vrf import InterfaceVrf
from vpp_config.objects.lcp_pair import LcpPair
from vpp_config.objects.loopback import Loopback
from vpp_config.objects.memif import Memif
from vpp_config.objects.memif_socket import MemifRings, MemifSocket
from vpp_config.objects.punt_policer import PuntPolicer
from vpp_config.objects.sub_interface import SubInterface
from vpp_config.objects.vrf_table import VrfTable

FILES: tuple[tuple[str, ...], ...] = (
    ("punt_policer",),
    ("vrf_table",),
    ("acl",),
    ("ethernet",),
    ("bond", "bond_member"),
    ("loopback",),
    ("memif_socket", "memif"),
    ("gre",),
    ("ipip",),
    ("sub_interface",),
    ("interface_vrf",),
    ("lcp_pair",),
    ("address",),
    ("acl_binding",),
    ("nat", "nat_pool", "nat_own_address", "nat_mapping", "nat_interface"),
    ("dhcp_relay",),
)
"""The file of each kind; a feature is one line. Where no dependency decides, a plan follows this order."""

KINDS: tuple[type[VppObject], ...] = kinds_in(__name__, FILES, VppObject)
"""All kinds, in that order."""

__all__ = [
    "ALL_CODES",
    "ANY",
    "KINDS",
    "Acl",
    "AclBinding",
    "AclRule",
    "Action",
    "Address",
    "AfPacket",
    "Attachment",
    "Dpdk",
    "Ethernet",
    "Family",
    "Interface",
    "InterfaceVrf",
    "LcpPair",
    "Loopback",
    "Memif",
    "MemifRings",
    "MemifSocket",
    "PuntPolicer",
    "SubInterface",
    "VirtioPci",
    "VppObject",
    "VrfTable",
]
