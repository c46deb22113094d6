"""The objects of VPP's configuration, one to a file."""

from __future__ import annotations

from vpp_config.objects.acl import Acl
from vpp_config.objects.acl_binding import AclBinding
from vpp_config.objects.acl_rule import ALL_CODES, ANY, AclRule, Action
from vpp_config.objects.address import Address
from vpp_config.objects.base import Family, Interface, VppObject
from vpp_config.objects.bond import Bond
from vpp_config.objects.bond_member import BondMember
from vpp_config.objects.ethernet import AfPacket, Attachment, Dpdk, Ethernet, VirtioPci
from vpp_config.objects.gre import GreTunnel
from vpp_config.objects.interface_vrf import InterfaceVrf
from vpp_config.objects.lcp_pair import LcpPair
from vpp_config.objects.loopback import Loopback
from vpp_config.objects.memif import Memif
from vpp_config.objects.memif_socket import MemifRings, MemifSocket
from vpp_config.objects.nat import Nat
from vpp_config.objects.nat_interface import NatInterface
from vpp_config.objects.nat_mapping import NatMapping
from vpp_config.objects.nat_own_address import NatOwnAddress
from vpp_config.objects.nat_pool import NatPool
from vpp_config.objects.punt_policer import PuntPolicer
from vpp_config.objects.sub_interface import SubInterface
from vpp_config.objects.vrf_table import VrfTable

KINDS: tuple[type[VppObject], ...] = (
    PuntPolicer,
    VrfTable,
    Acl,
    Ethernet,
    Bond,
    BondMember,
    Loopback,
    MemifSocket,
    Memif,
    GreTunnel,
    SubInterface,
    InterfaceVrf,
    LcpPair,
    Address,
    AclBinding,
    Nat,
    NatPool,
    NatOwnAddress,
    NatMapping,
    NatInterface,
)
"""All kinds, one line each. The order is that of a plan where no dependency decides."""

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
    "Nat",
    "NatInterface",
    "NatMapping",
    "NatOwnAddress",
    "NatPool",
    "PuntPolicer",
    "SubInterface",
    "VirtioPci",
    "VppObject",
    "VrfTable",
]
