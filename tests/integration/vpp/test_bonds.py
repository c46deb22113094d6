"""Two VPPs joined by a bond of two links, and traffic through both while one is lost.

10.1.0.2-9                                                                  10.2.0.2
left host --- nic2 [ one ] nic0 ======== peer0 [ other ] nic0 --- right host
                         nic1 ======== peer1
                   10.0.0.1   bond0 or a VLAN on it   10.0.0.2
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_interface, ip_network
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.state.bonds import BondMemberState, on_vpp
from tests.integration.vpp.harness import PrivateVpp, nic_mac, run
from tests.requirements import require_root_netns, require_vpp
from vpp_config import (
    Acl,
    AclBinding,
    AclRule,
    Address,
    AfPacket,
    Ethernet,
    LcpPair,
    Session,
    SubInterface,
    VppObject,
    VppState,
    plan,
)
from vpp_config.objects.bond import Bond, BondMode
from vpp_config.objects.bond_member import BondMember

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_SOURCES = [f"10.1.0.{host}" for host in range(2, 10)]
_RIGHT = "10.2.0.2"
_AGREED_S = 30.0
_NOTICED_S = 15.0
"""LACP's 3 seconds of silence, on a busy machine."""


@dataclass(frozen=True)
class Ends:
    """Both VPPs, and the sessions that configure them."""

    one: PrivateVpp
    other: PrivateVpp
    sessions: tuple[Session, Session]

    def go(self, *states: list[VppObject]) -> None:
        for session, objects in zip(self.sessions, states, strict=True):
            desired = VppState.of(objects)
            for step in plan(desired, session.observe()):
                session.apply(step)
            assert plan(desired, session.observe()) == ()

    def members(self, end: int = 0) -> dict[str, BondMemberState]:
        """As the live state tells of them."""
        session = self.sessions[end]
        looking: Any = SimpleNamespace(client=session.client, names=session.interface_names)
        (bond,) = on_vpp(looking)
        return {member.interface: member for member in bond.members}

    def states(self) -> list[str]:
        """Of the members of both ends."""
        return [member.state for end in (0, 1) for member in self.members(end).values()]

    def ping(self, source: str, count: int = 3) -> int:
        """How many of some pings from the left host are answered."""
        done = subprocess.run(self._ping(source, count), capture_output=True, text=True, check=False)
        return _received(done.stdout)

    def start_ping(self, source: str, count: int) -> subprocess.Popen[str]:
        """Ten pings a second."""
        return subprocess.Popen(self._ping(source, count), stdout=subprocess.PIPE, text=True)

    def _ping(self, source: str, count: int) -> list[str]:
        ping = ["ping", "-n", "-q", "-i", "0.1", "-W", "1", "-c", str(count), "-I", source, _RIGHT]
        return ["ip", "netns", "exec", self.one.far(2), *ping]


def _received(output: str) -> int:
    match = re.search(r"(\d+) received", output)
    assert match is not None, output
    return int(match[1])


@pytest.fixture(scope="module")
def ends() -> Iterator[Ends]:
    require_root_netns()
    require_vpp()
    with PrivateVpp(nics=3) as one, PrivateVpp(nics=1) as other:
        for number in (0, 1):
            peer = f"peer{number}"
            run("ip", "link", "set", peer, "netns", other.namespace, namespace=one.far(number))
            run("sysctl", "-qw", f"net.ipv6.conf.{peer}.accept_dad=0", namespace=other.namespace)
            run("ip", "link", "set", peer, "up", namespace=other.namespace)
        for far, device, addresses, gateway in (
            (one.far(2), "peer2", _SOURCES, "10.1.0.1"),
            (other.far(0), "peer0", [_RIGHT], "10.2.0.1"),
        ):
            for address in addresses:
                run("ip", "addr", "add", f"{address}/24", "dev", device, namespace=far)
            run("ip", "route", "add", "default", "via", gateway, namespace=far)
        clients = one.client(), other.client()
        yield Ends(one, other, (Session(clients[0]), Session(clients[1])))
        for client in clients:
            client.close()


def _wait(condition: Callable[[], bool], timeout_s: float, what: Callable[[], object]) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, what()
        time.sleep(0.1)


def _end(ends: Ends, end: int, mode: BondMode, *more: VppObject, vlan: bool = False) -> list[VppObject]:
    """What one of the VPPs has to hold."""
    vpp = (ends.one, ends.other)[end]
    lan, members = ("nic2", ("nic0", "nic1")) if end == 0 else ("nic0", ("peer0", "peer1"))
    mac = f"02:76:63:00:01:0{end}"
    on = "bond0.10" if vlan else "bond0"
    return [
        Bond("bond0", 0, mode, mac, None if mode == "active_backup" else "l34"),
        *(Ethernet(f"part{number}", AfPacket(device), mac) for number, device in enumerate(members)),
        *(
            BondMember("bond0", f"part{number}", weight=100 if mode == "active_backup" and number == 1 else 0)
            for number in range(2)
        ),
        *([SubInterface("bond0.10", "bond0", 10)] if vlan else []),
        Ethernet("lan0", AfPacket(lan), nic_mac(5 + end)),
        LcpPair("bond0", "bond0", vpp.mirror_namespace),
        LcpPair("lan0", "lan0", vpp.mirror_namespace),
        Address(on, ip_interface(f"10.0.0.{1 + end}/24")),
        Address("lan0", ip_interface(f"10.{1 + end}.0.1/24")),
        *more,
    ]


def _route(ends: Ends) -> None:
    """The routes of both ends, in the mirrors' namespaces: linux_nl brings them to VPP."""
    for vpp, there, hop in ((ends.one, "10.2.0.0/24", "10.0.0.2"), (ends.other, "10.1.0.0/24", "10.0.0.1")):
        run("ip", "route", "replace", there, "via", hop, namespace=vpp.mirror_namespace)


def _all_answered(ends: Ends) -> bool:
    return all(ends.ping(source) == 3 for source in _SOURCES)


def test_a_member_of_an_lacp_bond_is_lost_under_traffic_and_comes_back(ends: Ends) -> None:
    ends.go(_end(ends, 0, "lacp"), _end(ends, 1, "lacp"))
    _wait(lambda: ends.states() == ["active"] * 4, _AGREED_S, lambda: ends.members())
    part = ends.members()["part0"]
    assert part.actor is not None and part.partner is not None
    assert (part.actor.system, part.partner.system) == ("02:76:63:00:01:00", "02:76:63:00:01:01")
    assert {"collecting", "distributing", "short_timeout"} <= set(part.partner.flags or ())
    _route(ends)
    _wait(lambda: _all_answered(ends), 20.0, lambda: "pings get lost")
    flows = [ends.start_ping(source, 150) for source in _SOURCES]
    run("ip", "link", "set", "nic0", "down", namespace=ends.one.namespace)
    _wait(lambda: ends.states().count("waiting") == 2, _NOTICED_S, lambda: ends.members())
    silence = "no LACP packet has come from the other end"
    _wait(lambda: ends.members()["part0"].reason == silence, _NOTICED_S, lambda: ends.members())
    assert ends.members()["part1"].state == "active"
    assert _all_answered(ends)
    received = [_received(flow.communicate(timeout=120)[0]) for flow in flows]
    assert all(count > 50 for count in received), received
    assert sum(received) < 150 * len(flows), "no flow used the member that was lost"
    run("ip", "link", "set", "nic0", "up", namespace=ends.one.namespace)
    _wait(lambda: ends.states() == ["active"] * 4, _AGREED_S, lambda: ends.members())
    assert _all_answered(ends)


def test_a_vlan_and_an_access_list_work_on_a_bond(ends: Ends) -> None:
    denied = Acl("no-right", (AclRule("deny", ip_network("10.1.0.0/24"), ip_network("10.2.0.0/24")),))
    allowed = Acl("all", (AclRule("permit", ip_network("0.0.0.0/0"), ip_network("0.0.0.0/0")),))
    plain = _end(ends, 0, "xor"), _end(ends, 1, "xor")
    ends.go(*plain)
    _route(ends)
    _wait(lambda: _all_answered(ends), 20.0, lambda: "pings get lost")
    assert ends.states() == ["active"] * 4
    guarded = [*plain[1], denied, allowed, AclBinding("bond0", ("no-right", "all"))]
    ends.go(plain[0], guarded)
    assert [ends.ping(source) for source in _SOURCES[:2]] == [0, 0]
    ends.go(*plain)
    assert _all_answered(ends)
    ends.go(_end(ends, 0, "xor", vlan=True), _end(ends, 1, "xor", vlan=True))
    near = ["ping", "-n", "-q", "-c", "3", "-W", "1", "10.0.0.1"]
    namespace = ends.one.far(2)
    _wait(
        lambda: (
            subprocess.run(
                ["ip", "netns", "exec", namespace, *near], check=False, capture_output=True
            ).returncode
            == 0
        ),
        20.0,
        lambda: "the address on the VLAN does not answer",
    )


def test_the_primary_member_is_used_until_it_is_disabled(ends: Ends) -> None:
    both = _end(ends, 0, "active_backup"), _end(ends, 1, "active_backup")
    ends.go(*both)
    _route(ends)
    _wait(lambda: _all_answered(ends), 20.0, lambda: "pings get lost")
    assert [member.state for member in ends.members().values()] == ["standby", "active"]
    disabled = [_without_primary(end) for end in both]
    ends.go(*disabled)
    assert [member.state for member in ends.members().values()] == ["active", "down"]
    _wait(lambda: _all_answered(ends), 20.0, lambda: "pings get lost")
    ends.go(*both)
    assert [member.state for member in ends.members().values()] == ["standby", "active"]
    _wait(lambda: _all_answered(ends), 20.0, lambda: "pings get lost")


def _without_primary(objects: list[VppObject]) -> list[VppObject]:
    return [
        Ethernet(item.name, item.attachment, item.mac, enabled=False)
        if isinstance(item, Ethernet) and item.name == "part1"
        else item
        for item in objects
    ]
