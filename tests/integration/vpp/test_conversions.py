"""Every kind of interface becomes every other one under its name, with the objects on it, and back."""

from __future__ import annotations

from ipaddress import ip_address, ip_interface
from itertools import permutations

from tests.integration.vpp.conftest import Target
from tests.integration.vpp.harness import nic_mac
from vpp_config import (
    Acl,
    AclBinding,
    Address,
    AfPacket,
    Ethernet,
    LcpPair,
    Loopback,
    Session,
    SubInterface,
    VppObject,
    VppState,
    plan,
)
from vpp_config.objects.bond import Bond
from vpp_config.objects.bond_member import BondMember
from vpp_config.objects.gre import GreTunnel
from vpp_config.objects.ipip import IpipTunnel
from vpp_config.objects.memif import Memif
from vpp_config.objects.memif_socket import MemifSocket

_SOCKET = MemifSocket("left", 5)
_AS: dict[str, tuple[VppObject, ...]] = {
    "ethernet": (Ethernet("x0", AfPacket("nic1"), nic_mac(1)),),
    "bond": (
        Ethernet("lan0", AfPacket("nic1"), nic_mac(1)),
        Bond("x0", 0, "active_backup", nic_mac(1)),
        BondMember("x0", "lan0"),
    ),
    "loopback": (Loopback("x0", 0),),
    "sub_interface": (SubInterface("x0", "wan0", 10),),
    "memif": (_SOCKET, Memif("x0", _SOCKET.socket_id, 3, "02:fe:00:00:00:03")),
    "gre": (GreTunnel("x0", ip_address("192.0.2.1"), ip_address("192.0.2.9")),),
    "ipip": (IpipTunnel("x0", ip_address("192.0.2.1"), ip_address("192.0.2.9")),),
}
_BESIDE = (
    Ethernet("wan0", AfPacket("nic0"), nic_mac(0)),
    Address("wan0", ip_interface("192.0.2.1/24")),
    Acl("one", ()),
)
_ON_IT = (
    Address("x0", ip_interface("10.0.0.1/24")),
    Address("x0", ip_interface("2001:db8::1/64")),
    AclBinding("x0", ("one",)),
)


def _state(kind: str, netns: str) -> VppState:
    objects = [*_BESIDE, *_AS[kind], *_ON_IT]
    if kind != "sub_interface":  # this kernel may have no 802.1Q for a mirror of a VLAN
        objects.append(LcpPair("x0", "x0", netns, "tun" if kind in ("gre", "ipip") else "tap"))
    return VppState.of(objects)


def test_every_kind_becomes_every_other(target: Target) -> None:
    session: Session = target.session()
    for pair in permutations(_AS, 2):
        for kind in pair:
            wanted = _state(kind, target.netns)
            for step in plan(wanted, session.observe()):
                session.apply(step)
            seen = session.observe()
            assert plan(wanted, seen) == (), pair
            assert seen.keys() == wanted.keys(), pair
