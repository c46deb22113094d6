"""Every state can be reached from every other, and back, on the fake and on the real VPP."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_interface, ip_network
from random import Random

import pytest

from tests.integration.vpp.conftest import Target
from tests.integration.vpp.harness import nic_mac
from tests.integration.vpp.random_states import random_state
from vpp_config import (
    Acl,
    AclBinding,
    AclRule,
    Address,
    AfPacket,
    Ethernet,
    Interface,
    InterfaceVrf,
    LcpPair,
    Loopback,
    Memif,
    MemifRings,
    MemifSocket,
    Session,
    Step,
    SubInterface,
    VppObject,
    VppState,
    VrfTable,
    plan,
)
from vpp_config.client import Reply, Request, VppClient
from vpp_config.errors import VppApiError, VppError
from vpp_config.objects.bond import Bond
from vpp_config.objects.bond_member import BondMember
from vpp_config.objects.dhcp_relay import DhcpRelay, DhcpServer
from vpp_config.objects.gre import GreTunnel
from vpp_config.objects.ipip import IpipTunnel

_WALK_LENGTH = 100
_ANY = ip_network("0.0.0.0/0")
_NOTHING = VppState.of(())


def _go(session: Session, desired: VppState) -> None:
    """Commit a state and check that nothing is left to do."""
    for step in plan(desired, session.observe()):
        session.apply(step)
    seen = session.observe()
    assert plan(desired, seen) == ()
    assert seen.keys() == desired.keys()


def test_walk(target: Target) -> None:
    """Each state to the next; half of the plans are first applied and undone."""
    random = Random(2606)
    session = target.session()
    for number in range(_WALK_LENGTH):
        desired = random_state(random, target.netns)
        if number % 2:
            before = session.observe()
            steps = plan(desired, before)
            done = random.randrange(len(steps) + 1)
            for step in steps[:done]:
                session.apply(step)
            for step in reversed(steps[:done]):
                session.undo(step)
            assert session.observe() == before
        _go(session, desired)
        assert VppState.from_json(desired.to_json()) == desired
    _go(session, _NOTHING)


_WAN = Ethernet("wan0", AfPacket("nic0"), nic_mac(0))
_LAN = Ethernet("lan0", AfPacket("nic1"), nic_mac(1))
_VLAN = SubInterface("wan0.10", "wan0", 10)
_LOOP = Loopback("lo0", 0)
_FAR, _FARTHER = ip_address("192.0.2.2"), ip_address("192.0.2.3")
_NEAR = ip_address("192.0.2.1")
_TUNNEL = GreTunnel("gre1", _NEAR, _FAR)
_IN_TUNNEL: list[VppObject] = [
    _LOOP,
    Address("lo0", ip_interface("192.0.2.1/32")),
    Address("gre1", ip_interface("10.9.0.1/30")),
    Address("gre1", ip_interface("2001:db8:9::1/64")),
]
_BLUE = VrfTable(10, "blue", "ipv4")
_PERMIT = AclRule("permit", _ANY, _ANY)
_DENY = AclRule("deny", _ANY, _ANY)
_BOND = Bond("bond0", 7, "lacp", nic_mac(0), "l34")
_PARTS: list[VppObject] = [
    Ethernet("wan0", AfPacket("nic0"), nic_mac(0)),
    Ethernet("lan0", AfPacket("nic1"), nic_mac(0)),
]
_IN_BOND: list[VppObject] = [BondMember("bond0", "wan0"), BondMember("bond0", "lan0")]
_ON_BOND: list[VppObject] = [
    SubInterface("bond0.10", "bond0", 10),
    Address("bond0", ip_interface("10.0.0.1/24")),
]
_BACKUP = Bond("bond0", 7, "active_backup", nic_mac(0))
_LISTENS = MemifSocket("left", 7)
_OFFERS = MemifSocket("left", 7, MemifRings(4096, 8192, 2, 3))
_OFFERS_LESS = MemifSocket("left", 7, MemifRings(128, 2048, 1, 3))
_MEMIF_MAC = "02:fe:00:00:00:01"
_MEMIF = Memif("m0", _LISTENS.socket_id, 3, _MEMIF_MAC)
_RELAY, _OTHER_RELAY = IPv4Address("192.0.2.1"), IPv4Address("192.0.2.9")
_SERVER, _OTHER_SERVER = DhcpServer(IPv4Address("192.0.2.2")), DhcpServer(IPv4Address("192.0.2.3"))
_SERVER_IN_BLUE = DhcpServer(IPv4Address("192.0.2.2"), 10)
_RED = VrfTable(20, "red", "ipv4")
_ONE, _TWO = Acl("one", (_PERMIT,)), Acl("two", (_PERMIT, _DENY))

# What it stands on, one form of it, another form of it: both kept under one key.
_CHANGES: dict[str, tuple[list[VppObject], VppObject, VppObject]] = {
    "ethernet device": ([], _WAN, Ethernet("wan0", AfPacket("nic1"), nic_mac(1))),
    "ethernet mac": (
        [Address("wan0", ip_interface("10.0.0.1/24"))],
        _WAN,
        Ethernet("wan0", AfPacket("nic0"), "02:00:00:00:00:01"),
    ),
    "ethernet mtu": ([_VLAN], _WAN, Ethernet("wan0", AfPacket("nic0"), nic_mac(0), 1600)),
    "ethernet jumbo": ([_VLAN], _WAN, Ethernet("wan0", AfPacket("nic0"), nic_mac(0), 9000)),
    "ethernet down": ([_VLAN], _WAN, Ethernet("wan0", AfPacket("nic0"), nic_mac(0), enabled=False)),
    "sub-interface mtu": ([_WAN], _VLAN, SubInterface("wan0.10", "wan0", 10, 1400)),
    "sub-interface vlan": (
        [_WAN, Address("wan0.10", ip_interface("10.0.0.1/24"))],
        _VLAN,
        SubInterface("wan0.10", "wan0", 11),
    ),
    "sub-interface parent": ([_WAN, _LAN], _VLAN, SubInterface("wan0.10", "lan0", 10)),
    "sub-interface down": ([_WAN], _VLAN, SubInterface("wan0.10", "wan0", 10, enabled=False)),
    "loopback instance": ([], _LOOP, Loopback("lo0", 9)),
    "loopback mtu": ([], _LOOP, Loopback("lo0", 0, mtu=1500)),
    "loopback mac": ([], _LOOP, Loopback("lo0", 0, "02:00:00:00:00:01")),
    "vrf name": ([_WAN, InterfaceVrf("wan0", "ipv4", 10)], _BLUE, VrfTable(10, "red", "ipv4")),
    "vrf of an interface": (
        [_WAN, _BLUE, VrfTable(20, "red", "ipv4"), Address("wan0", ip_interface("10.0.0.1/24"))],
        InterfaceVrf("wan0", "ipv4", 10),
        InterfaceVrf("wan0", "ipv4", 20),
    ),
    "mirror name": (
        [_WAN, Address("wan0", ip_interface("10.0.0.1/24"))],
        LcpPair("wan0", "wan0", "NETNS"),
        LcpPair("wan0", "outside", "NETNS"),
    ),
    "bond number": ([*_PARTS, *_IN_BOND, *_ON_BOND], _BOND, Bond("bond0", 8, "lacp", nic_mac(0), "l34")),
    "bond mode": ([*_PARTS, *_IN_BOND, *_ON_BOND], _BOND, Bond("bond0", 7, "xor", nic_mac(0), "l34")),
    "bond hash": ([*_PARTS, *_IN_BOND, *_ON_BOND], _BOND, Bond("bond0", 7, "lacp", nic_mac(0), "l23")),
    "bond mtu": ([*_PARTS, *_IN_BOND], _BOND, Bond("bond0", 7, "lacp", nic_mac(0), "l34", 1400)),
    "bond down": (
        [*_PARTS, *_IN_BOND, *_ON_BOND],
        _BOND,
        Bond("bond0", 7, "lacp", nic_mac(0), "l34", enabled=False),
    ),
    "bond without members": ([*_ON_BOND], _BOND, Bond("bond0", 7, "xor", nic_mac(0), "l2")),
    "member's timeout": ([*_PARTS, _BOND], _IN_BOND[0], BondMember("bond0", "wan0", long_timeout=True)),
    "member's weight": (
        [*_PARTS, _BACKUP, _IN_BOND[1]],
        _IN_BOND[0],
        BondMember("bond0", "wan0", weight=100),
    ),
    "member's bond": (
        [*_PARTS, _BOND, Bond("bond1", 8, "xor", nic_mac(0), "l2")], _IN_BOND[0], BondMember("bond1", "wan0"),
    ),
    "member down": (
        [_PARTS[0], _BOND, *_IN_BOND],
        _PARTS[1],
        Ethernet("lan0", AfPacket("nic1"), nic_mac(0), enabled=False),
    ),
    "memif number": (
        [_LISTENS, SubInterface("m0.10", "m0", 10), Address("m0", ip_interface("10.0.0.1/24"))],
        _MEMIF,
        Memif("m0", _LISTENS.socket_id, 4, _MEMIF_MAC),
    ),
    "memif mac": ([_LISTENS], _MEMIF, Memif("m0", _LISTENS.socket_id, 3, "02:fe:00:00:00:02")),
    "memif mtu": ([_LISTENS], _MEMIF, Memif("m0", _LISTENS.socket_id, 3, _MEMIF_MAC, 9000)),
    "memif down": ([_LISTENS], _MEMIF, Memif("m0", _LISTENS.socket_id, 3, _MEMIF_MAC, enabled=False)),
    "memif role": ([_LISTENS, _OFFERS], _MEMIF, Memif("m0", _OFFERS.socket_id, 3, _MEMIF_MAC)),
    "memif rings": (
        [_OFFERS, _OFFERS_LESS, AclBinding("m0", ("one",)), _ONE],
        Memif("m0", _OFFERS.socket_id, 3, _MEMIF_MAC),
        Memif("m0", _OFFERS_LESS.socket_id, 3, _MEMIF_MAC),
    ),
    "tunnel's end": (_IN_TUNNEL, _TUNNEL, GreTunnel("gre1", _NEAR, _FARTHER)),
    "tunnel over IPv6": (
        _IN_TUNNEL,
        _TUNNEL,
        GreTunnel("gre1", ip_address("2001:db8::1"), ip_address("2001:db8::2")),
    ),
    "tunnel mtu": (_IN_TUNNEL, _TUNNEL, GreTunnel("gre1", _NEAR, _FAR, 1400)),
    "tunnel down": (_IN_TUNNEL, _TUNNEL, GreTunnel("gre1", _NEAR, _FAR, enabled=False)),
    "end of IP in IP": (
        _IN_TUNNEL,
        IpipTunnel("gre1", _NEAR, _FAR, 1400),
        IpipTunnel("gre1", _NEAR, _FARTHER, enabled=False),
    ),
    "GRE becomes IP in IP": (_IN_TUNNEL, _TUNNEL, IpipTunnel("gre1", _NEAR, _FAR)),
    "relay's server": ([], DhcpRelay(0, _RELAY, (_SERVER,)), DhcpRelay(0, _RELAY, (_OTHER_SERVER,))),
    "relay's servers": (
        [], DhcpRelay(0, _RELAY, (_SERVER, _OTHER_SERVER)), DhcpRelay(0, _RELAY, (_OTHER_SERVER, _SERVER)),
    ),
    "relay's source": (
        [_BLUE, _RED, InterfaceVrf("wan0", "ipv4", 10), _WAN, Address("wan0", ip_interface("192.0.2.1/24"))],
        DhcpRelay(20, _RELAY, (_SERVER_IN_BLUE,)),
        DhcpRelay(20, _OTHER_RELAY, (_SERVER_IN_BLUE,)),
    ),
    "relay's table": (
        [_BLUE], DhcpRelay(10, _RELAY, (_SERVER,)), DhcpRelay(10, _RELAY, (_SERVER_IN_BLUE,)),
    ),
    "access list": ([_WAN, AclBinding("wan0", ("one",))], _ONE, Acl("one", (_DENY, _PERMIT))),
    "binding": (
        [_WAN, _ONE, _TWO],
        AclBinding("wan0", ("one",)),
        AclBinding("wan0", ("two", "one"), ("one",)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", _CHANGES)
def test_change(target: Target, case: str) -> None:
    """Make, observe, change, undo, change again, remove."""
    base, first, second = _CHANGES[case]
    if isinstance(first, LcpPair) and isinstance(second, LcpPair):
        first = LcpPair(first.interface, first.host_if_name, target.netns)
        second = LcpPair(second.interface, second.host_if_name, target.netns)
    one, other, without = VppState.of([*base, first]), VppState.of([*base, second]), VppState.of(base)
    session = target.session()
    _go(session, one)
    before = session.observe()
    steps = plan(other, before)
    assert steps
    for step in steps:
        session.apply(step)
    assert plan(other, session.observe()) == ()
    for step in reversed(steps):
        session.undo(step)
    assert session.observe() == before
    _go(session, other)
    _go(session, one)
    if all(first.provides not in item.requires() for item in base):
        _go(session, without)
    _go(session, _NOTHING)


def test_a_nic_becomes_a_member_and_back(target: Target) -> None:
    """An interface with all on it becomes a part of a bond with the same on top, and itself again."""
    session = target.session()
    alone = VppState.of([
        _WAN, _LAN, _VLAN, _ONE, LcpPair("wan0", "wan0", target.netns), LcpPair("lan0", "lan0", target.netns),
        Address("wan0", ip_interface("10.0.0.1/24")), AclBinding("wan0", ("one",)),
    ])  # fmt: skip
    bonded = VppState.of([
        *_PARTS, _BOND, *_IN_BOND, _ONE, SubInterface("wan0.10", "bond0", 10),
        LcpPair("bond0", "bond0", target.netns),
        Address("bond0", ip_interface("10.0.0.1/24")), AclBinding("bond0", ("one",)),
    ])  # fmt: skip
    fewer = VppState.of([
        _PARTS[0], _LAN, _BOND, _IN_BOND[0], Address("lan0", ip_interface("10.0.1.1/24")),
        Address("bond0", ip_interface("10.0.0.1/24")),
    ])  # fmt: skip
    for one, other in ((alone, bonded), (bonded, fewer), (fewer, alone)):
        for first, second in ((one, other), (other, one)):
            _go(session, first)
            before = session.observe()
            steps = plan(second, before)
            for step in steps:
                session.apply(step)
            assert plan(second, session.observe()) == ()
            for step in reversed(steps):
                session.undo(step)
            assert session.observe() == before
    _go(session, bonded)
    assert set(session.interface_names().values()) == {"bond0", "wan0", "lan0", "wan0.10"}
    _go(session, alone)
    macs = {
        row.tag: str(row.l2_address)
        for row in target.client.dump("sw_interface_dump", sw_if_index=0xFFFFFFFF)
    }
    assert macs["millrace:lan0"] == nic_mac(1)


@pytest.mark.parametrize("kind", [GreTunnel, IpipTunnel])
def test_two_tunnels_exchange_their_ends(target: Target, kind: type[GreTunnel | IpipTunnel]) -> None:
    """VPP knows a tunnel by its ends, so one is removed before the other takes them."""
    session = target.session()
    one = VppState.of([kind("tun1", _NEAR, _FAR), kind("tun2", _NEAR, _FARTHER)])
    other = VppState.of([kind("tun1", _NEAR, _FARTHER), kind("tun2", _NEAR, _FAR)])
    for desired in (one, other, one, _NOTHING):
        _go(session, desired)


def test_addresses_reach_the_mirror(target: Target) -> None:
    """In whatever order they came: a new mirror makes the addresses come again."""
    session = target.session()
    address = Address("wan0", ip_interface("10.9.0.1/24"))
    _go(session, VppState.of([_WAN, address]))
    _go(session, VppState.of([_WAN, address, LcpPair("wan0", "wan0", target.netns)]))
    if target.name == "fake":
        assert target.client.mirrored_addresses("wan0") == {address.address}  # type: ignore[attr-defined]  # fake
    else:
        from tests.integration.vpp.harness import run

        assert "10.9.0.1/24" in run("ip", "-4", "addr", "show", "wan0", namespace=target.netns)


def test_others_are_left_alone(target: Target) -> None:
    """Objects without our tag stay, unless they occupy something that we need."""
    client = target.client
    theirs = client.call(
        "create_loopback_instance", mac_address="00:00:00:00:00:00", is_specified=True, user_instance=3
    ).sw_if_index
    client.call("sw_interface_tag_add_del", is_add=True, sw_if_index=theirs, tag="somebody")
    acl = client.call(
        "acl_add_replace", acl_index=0xFFFFFFFF, tag="somebody", count=1, r=(_PERMIT,)
    ).acl_index
    client.call("acl_interface_set_acl_list", sw_if_index=theirs, count=1, n_input=1, acls=[acl])
    session = target.session()
    assert session.observe() == VppState.of((), session.observe().leftovers)
    _go(session, VppState.of([_LOOP]))
    _go(session, _NOTHING)
    assert [row.acl_index for row in client.dump("acl_dump", acl_index=acl)] == [acl]
    tags = [row.tag for row in client.dump("sw_interface_dump", sw_if_index=0xFFFFFFFF)]
    assert "somebody" in tags
    _go(session, VppState.of([Loopback("lo3", 3)]))
    tags = [row.tag for row in client.dump("sw_interface_dump", sw_if_index=0xFFFFFFFF)]
    assert "somebody" not in tags


class _Killed(BaseException):
    """The process that was applying is gone."""


class _MortalClient:
    """A client whose process dies after some calls that change something."""

    def __init__(self, client: VppClient, calls: int) -> None:
        self._client = client
        self._left = calls

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)

    def pipeline(
        self, requests: list[Request], *, generation: int | None = None
    ) -> list[Reply | list[Reply] | VppError]:
        if not all(item.name.endswith(("_dump", "_get", "_get_table")) for item in requests):
            if self._left == 0:
                raise _Killed
            self._left -= 1
        return self._client.pipeline(requests, generation=generation)


_FULL = [
    _WAN, _LAN, _VLAN, _LOOP, _BLUE, _ONE, _TWO, InterfaceVrf("wan0.10", "ipv4", 10),
    Address("wan0", ip_interface("10.0.0.1/24")), Address("wan0.10", ip_interface("10.0.0.1/24")),
    Address("lo0", ip_interface("2001:db8::1/128")), AclBinding("wan0", ("one", "two"), ("two",)),
]  # fmt: skip


_FULL_BOND = [
    *_PARTS, _BACKUP, _IN_BOND[1], BondMember("bond0", "wan0", weight=100), *_ON_BOND, _ONE,
    AclBinding("bond0", ("one",)),
]  # fmt: skip


_FULL_TUNNEL = [*_IN_TUNNEL, _TUNNEL, _ONE, AclBinding("gre1", ("one",))]


@pytest.mark.parametrize("objects", [_FULL, _FULL_BOND, _FULL_TUNNEL], ids=["nics", "bond", "tunnel"])
def test_killed_between_any_two_calls(target: Target, objects: list[VppObject]) -> None:
    """However far an apply came, the next observe and plan repair it, whether they go forward or back."""
    mirrored = "bond0" if objects is _FULL_BOND else "wan0"
    mirror = LcpPair(mirrored, mirrored, target.netns)
    if objects is _FULL_TUNNEL:
        mirror = LcpPair("gre1", "gre1", target.netns, "tun")
    full = VppState.of([*objects, mirror])
    for desired in (full, _NOTHING):
        calls = 0
        died = True
        steps: tuple[Step, ...] = ()
        while died:
            session = target.session()
            _go(session, _NOTHING if desired is full else full)
            steps = plan(desired, session.observe())
            mortal = Session(_MortalClient(target.client, calls))  # type: ignore[arg-type]  # by __getattr__
            try:
                for step in steps:
                    mortal.apply(step)
                died = False
            except _Killed:
                _go(target.session(), desired if calls % 2 else _NOTHING if desired is full else full)
            calls += 1
        assert calls > len(steps)
    _go(target.session(), _NOTHING)


def test_a_refused_call_changes_nothing(target: Target) -> None:
    """A failing step undoes what it began; undoing the steps before it restores the state."""
    if target.name == "real":
        pytest.skip("refusals on request are the fake's")
    full = VppState.of([*_FULL, LcpPair("wan0", "wan0", target.netns)])
    changed = VppState.of([
        Ethernet("wan0", AfPacket("nic0"), nic_mac(0), 1600), _LOOP, Acl("one", (_DENY,)),
        Address("wan0", ip_interface("10.0.0.1/25")), AclBinding("wan0", ("one",)),
    ])  # fmt: skip
    bonded = VppState.of(_FULL_BOND)
    for start, desired in (
        (_NOTHING, full), (full, changed), (changed, full), (full, _NOTHING),
        (full, bonded), (bonded, full), (bonded, _NOTHING),
    ):  # fmt: skip
        refused = True
        calls = 0
        while refused:
            session = target.session()
            _go(session, start)
            before = session.observe()
            done = []
            target.client.fail_after(calls)  # type: ignore[attr-defined]  # the fake's own
            refused = False
            for step in plan(desired, before):
                try:
                    session.apply(step)
                    done.append(step)
                except VppApiError:
                    refused = True
                    break
            target.client.succeed()  # type: ignore[attr-defined]  # the fake's own
            for step in reversed(done):
                session.undo(step)
            if refused:
                assert session.observe() == before, f"call {calls}"
            calls += 1
        target.restart()


def test_vpp_restarts(target: Target) -> None:
    """Everything is lost, the loss is noticed, and the same session makes everything again."""
    session = target.session()
    full = VppState.of([*_FULL, LcpPair("wan0", "wan0", target.netns)])
    _go(session, full)
    target.restart()
    assert len(session.observe()) == 0
    _go(session, full)
    assert all(isinstance(item, Interface) for item in session.observe().interfaces().values())
