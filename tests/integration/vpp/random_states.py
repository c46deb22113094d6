"""Random, valid states of a VPP with NICs nic0 and nic1."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_interface, ip_network
from random import Random

from tests.integration.vpp.harness import nic_mac
from vpp_config import (
    Acl,
    AclBinding,
    AclRule,
    Action,
    Address,
    AfPacket,
    Ethernet,
    Family,
    Interface,
    InterfaceVrf,
    LcpPair,
    Loopback,
    Memif,
    MemifRings,
    MemifSocket,
    PuntPolicer,
    SubInterface,
    VppObject,
    VppState,
    VrfTable,
)
from vpp_config.objects.bond import Bond, BondMode, LoadBalance
from vpp_config.objects.bond_member import BondMember
from vpp_config.objects.dhcp_relay import DhcpRelay, DhcpServer
from vpp_config.objects.gre import GreTunnel
from vpp_config.objects.ipip import IpipTunnel
from vpp_config.objects.lcp_pair import HostIfType

_MTUS = (1280, 1400, 1500, 9000)
_FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
_ACTIONS: tuple[Action, ...] = ("permit", "deny", "permit_reflect")
_BOND_MODES: tuple[BondMode, ...] = ("lacp", "xor", "active_backup")
_HASHES: tuple[LoadBalance, ...] = ("l2", "l23", "l34")
_TABLES = {10: "blue", 20: "red"}


def random_state(random: Random, netns: str) -> VppState:
    """Anything from an empty VPP to one with every kind of object.

    No sub-interface has a mirror: that needs the kernel's 8021q, which build machines lack.
    """
    interfaces = _interfaces(random)
    acls = _acls(random)
    tables = [
        VrfTable(number, name, family)
        for number, name in _TABLES.items()
        for family in _FAMILIES
        if random.random() < 0.6
    ]
    policers = [
        PuntPolicer(family, random.choice((1000, 50_000)), random.choice((10, 100)))
        for family in _FAMILIES
        if random.random() < 0.6
    ]
    sockets, memifs = _memifs(random)
    interfaces += memifs
    members = _members(random, interfaces)
    relays = _relays(random, [table.table_id for table in tables if table.family == "ipv4"])
    objects: list[VppObject] = [*interfaces, *sockets, *members, *acls, *tables, *policers, *relays]
    bonded = {member.interface for member in members}
    for position, interface in enumerate(interfaces):
        if interface.name in bonded:
            continue
        objects += _on_interface(random, position, interface, tables, acls, netns)
    random.shuffle(objects)
    return VppState.of(objects)


def _interfaces(random: Random) -> list[Interface]:
    if random.random() < 0.3:
        return [*_bonded(random), *_tunnels(random)]
    made: list[Interface] = []
    for number, name in enumerate(("wan0", "lan0")):
        if random.random() < 0.15:
            continue
        # Sometimes on the other NIC, where that is free.
        nic = number if made or random.random() < 0.8 else 1
        if any(isinstance(item, Ethernet) and item.attachment == AfPacket(f"nic{nic}") for item in made):
            continue
        mac = nic_mac(nic) if random.random() < 0.8 else "02:00:5e:10:00:01"
        parent = Ethernet(name, AfPacket(f"nic{nic}"), mac, random.choice(_MTUS), random.random() < 0.8)
        made.append(parent)
        for vlan_id in (10, 20):
            if random.random() < 0.4:
                mtu = random.choice([mtu for mtu in _MTUS if mtu <= parent.mtu])
                made.append(SubInterface(f"{name}.{vlan_id}", name, vlan_id, mtu, random.random() < 0.8))
    for number in range(2):
        if random.random() < 0.6:
            instance = random.choice((number, number + 10))
            mac_or_none = random.choice((None, f"02:00:00:00:00:{number:02x}"))
            made.append(
                Loopback(f"lo{number}", instance, mac_or_none, random.choice(_MTUS), random.random() < 0.9)
            )
    return [*made, *_tunnels(random)]


def _tunnels(random: Random) -> list[GreTunnel | IpipTunnel]:
    """Of both kinds, over IPv4 and IPv6; ends go from one to the other."""
    made: list[GreTunnel | IpipTunnel] = []
    ends = random.sample(
        [("192.0.2.1", "192.0.2.2"), ("192.0.2.1", "192.0.2.3"), ("2001:db8::1", "2001:db8::2")], 2
    )
    for number, (source, destination) in enumerate(ends):
        if random.random() < 0.4:
            mtu = random.choice(_MTUS)
            one, other = ip_address(source), ip_address(destination)
            made.append(GreTunnel(f"gre{number}", one, other, mtu, random.random() < 0.8))
        if random.random() < 0.4:
            one, other = ip_address(source), ip_address(destination)
            made.append(IpipTunnel(f"ipip{number}", one, other, random.choice(_MTUS), random.random() < 0.8))
    return made


def _relays(random: Random, tables: list[int]) -> list[DhcpRelay]:
    """Of table 0 and of others, to a server or two by any of them."""
    servers = [DhcpServer(IPv4Address(f"192.0.2.{one}"), random.choice([0, *tables])) for one in (66, 67, 68)]
    return [
        DhcpRelay(
            number,
            IPv4Address(random.choice(["192.0.2.1", "192.0.2.2"])),
            tuple(random.sample(servers, random.choice([1, 1, 2]))),
        )
        for number in (0, *tables)
        if random.random() < 0.3
    ]


def _memifs(random: Random) -> tuple[list[MemifSocket], list[Interface]]:
    """Up to three on one or two sockets, which are named whether an interface uses them or not."""
    if random.random() < 0.5:
        return [], []
    rings = MemifRings(random.choice((128, 1024)), random.choice((2048, 16384)), random.choice((1, 16)))
    sockets = [MemifSocket("left", 5), MemifSocket("right", 131070, rings)]
    made: list[Interface] = []
    for number in range(3):
        socket = random.choice(sockets)
        mac = f"02:fe:00:00:00:{random.choice((number, number + 16)):02x}"
        if random.random() < 0.7:
            mtu, up = random.choice(_MTUS), random.random() < 0.8
            made.append(Memif(f"m{number}", socket.socket_id, number, mac, mtu, up))
    return sockets, made


def _bonded(random: Random) -> list[Interface]:
    """A bond over one NIC or both, with VLANs."""
    mac, mtu = random.choice((nic_mac(0), "02:00:5e:10:00:02")), random.choice(_MTUS)
    number = random.choice((0, 7))
    mode = random.choice(_BOND_MODES)
    hashes = None if mode == "active_backup" else random.choice(_HASHES)
    bond = Bond("bond0", number, mode, mac, hashes, mtu, random.random() < 0.8)
    made: list[Interface] = [bond]
    for nic, name in enumerate(("wan0", "lan0")):
        if random.random() < 0.8:
            made.append(Ethernet(name, AfPacket(f"nic{nic}"), mac, mtu, random.random() < 0.8))
    for vlan_id in (10, 20):
        if random.random() < 0.4:
            inner = random.choice([size for size in _MTUS if size <= mtu])
            made.append(SubInterface(f"bond0.{vlan_id}", "bond0", vlan_id, inner, random.random() < 0.8))
    return made


def _members(random: Random, interfaces: list[Interface]) -> list[BondMember]:
    bond = next((item for item in interfaces if isinstance(item, Bond)), None)
    if bond is None:
        return []
    return [
        BondMember(
            bond.name,
            item.name,
            long_timeout=bond.mode == "lacp" and random.random() < 0.5,
            weight=random.choice((0, 100)) if bond.mode == "active_backup" else 0,
        )
        for item in interfaces
        if isinstance(item, Ethernet) and random.random() < 0.9
    ]


def _acls(random: Random) -> list[Acl]:
    return [
        Acl(name, tuple(random_rule(random) for _ in range(random.randrange(5))))
        for name in ("a", "b", "c", "d")
        if random.random() < 0.6
    ]


def random_rule(random: Random) -> AclRule:
    """Any rule that can be written."""
    six = random.random() < 0.4
    base, length = (
        ("2001:db8::", random.choice((32, 48, 64))) if six else ("10.0.0.0", random.choice((8, 16, 24)))
    )
    inside = ip_network(f"{base}/{length}")
    outside = ip_network("::/0" if six else "0.0.0.0/0")
    source, destination = random.sample((inside, outside), 2)
    action = random.choice(_ACTIONS)
    protocol = random.choice((0, 6, 17, 58 if six else 1, 89))
    if protocol in (6, 17):
        ports = sorted(random.choices(range(65536), k=4))
        mask = random.randrange(64) if protocol == 6 else 0
        return AclRule(
            action, source, destination, protocol, (ports[0], ports[2]), (ports[1], ports[3]),
            tcp_flags=mask & random.randrange(64), tcp_mask=mask,
        )  # fmt: skip
    if protocol in (1, 58):
        first = random.randrange(256)
        return AclRule(
            action, source, destination, protocol,
            icmp_type=(first, random.randrange(first, 256)), icmp_code=random.choice((None, (0, 0), (1, 4))),
        )  # fmt: skip
    return AclRule(action, source, destination, protocol)


def _on_interface(
    random: Random, position: int, interface: Interface, tables: list[VrfTable], acls: list[Acl], netns: str
) -> list[VppObject]:
    name = interface.name
    objects: list[VppObject] = []
    for family in _FAMILIES:
        choices = [table.table_id for table in tables if table.family == family]
        if choices and random.random() < 0.3:
            objects.append(InterfaceVrf(name, family, random.choice(choices)))
    if not isinstance(interface, SubInterface) and random.random() < 0.6:
        kind: HostIfType = "tun" if isinstance(interface, GreTunnel | IpipTunnel) else "tap"
        objects.append(LcpPair(name, random.choice((name, f"m-{name}")), netns, kind))
    number = 1 + position
    for host in range(random.randrange(3)):
        length = random.choice((24, 28))
        objects.append(Address(name, ip_interface(f"10.{number}.{host}.1/{length}")))
    for host in range(random.randrange(3)):
        objects.append(Address(name, ip_interface(f"2001:db8:{number}:{host}::1/{random.choice((64, 112))}")))
    names = [acl.name for acl in acls]
    inbound = tuple(random.sample(names, random.randrange(min(len(names), 3) + 1)))
    outbound = tuple(random.sample(names, random.randrange(min(len(names), 3) + 1)))
    if (inbound or outbound) and random.random() < 0.5:
        objects.append(AclBinding(name, inbound, outbound))
    return objects
