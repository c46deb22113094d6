"""VPP's LACP and its tunnels against those of a kernel that nobody of ours configured::

[ VPP ] nic0 ===== peer0 [ far ]    bond9, LACP, with a VLAN
        nic1 ===== peer1
        nic2 ----- peer2            the end of a tunnel
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import partial
from ipaddress import ip_address, ip_interface
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.state.bonds import BondMemberState, on_vpp
from tests.integration.vpp.harness import PrivateVpp, nic_mac, run
from tests.live_lab import wait_until
from tests.requirements import require_links, require_root_netns, require_vpp
from vpp_config import (
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
from vpp_config.objects.bond import Bond
from vpp_config.objects.bond_member import BondMember
from vpp_config.objects.gre import GreTunnel
from vpp_config.objects.ipip import IpipTunnel

pytestmark = [pytest.mark.vpp, pytest.mark.root]

SOURCES = [f"10.0.0.{host}" for host in range(2, 10)]
MAC, FAR_MAC = "02:76:63:00:02:00", "02:76:63:00:02:09"
AGREED_S = 60.0


class Ends:
    """VPP, and the far end's namespace."""

    def __init__(self, vpp: PrivateVpp) -> None:
        self.vpp, self.far = vpp, vpp.far(0)
        self.client = vpp.client()
        self.session = Session(self.client)

    def go(self, objects: list[VppObject]) -> None:
        desired = VppState.of(objects)
        for step in plan(desired, self.session.observe()):
            self.session.apply(step)
        assert plan(desired, self.session.observe()) == ()

    def members(self) -> dict[str, BondMemberState]:
        """As the live state tells of them."""
        looking: Any = SimpleNamespace(client=self.client, names=self.session.interface_names)
        (bond,) = on_vpp(looking)
        return {member.interface: member for member in bond.members}

    def states(self) -> list[str]:
        return [member.state for _, member in sorted(self.members().items())]

    def agreed(self) -> bool:
        """Whether the far end says of both members that it passes packets by them, and wants LACP slow."""
        flags = [set(one.partner.flags or ()) for one in self.members().values() if one.partner is not None]
        return all({"collecting", "distributing"} <= one and "short_timeout" not in one for one in flags)

    def answered(self, destination: str, *options: str) -> int:
        """How many of three pings of the far end are answered."""
        argv = ["ping", "-n", "-q", "-i", "0.1", "-W", "1", "-c", "3", *options, destination]
        full = ["ip", "netns", "exec", self.far, *argv]
        done = subprocess.run(full, check=False, capture_output=True, text=True, timeout=60)
        match = re.search(r"(\d+) received", done.stdout)
        return 0 if match is None else int(match[1])

    def all_of_three(self, destination: str) -> bool:
        return self.answered(destination) == 3

    def all_answered(self) -> bool:
        return all(self.answered("10.0.0.1", "-I", source) == 3 for source in SOURCES)

    def out(self, interface: str) -> int:
        """Packets that a member has sent."""
        index = next(key for key, name in self.session.interface_names().items() if name == interface)
        known = self.vpp.cli("show", "interface", self.client_name(index))
        match = re.search(r"tx packets\s+(\d+)", known)
        return 0 if match is None else int(match[1])

    def client_name(self, index: int) -> str:
        rows = self.client.dump("sw_interface_dump", sw_if_index=index)
        return str(rows[0].interface_name)


@pytest.fixture(scope="module")
def ends() -> Iterator[Ends]:
    require_root_netns()
    require_vpp()
    require_links("bond", "vlan", "gre", "ip6gre", "sit", "ip6tnl")
    with PrivateVpp(nics=3) as vpp:
        for number in (1, 2):
            run("ip", "link", "set", f"peer{number}", "netns", vpp.far(0), namespace=vpp.far(number))
            run("sysctl", "-qw", f"net.ipv6.conf.peer{number}.accept_dad=0", namespace=vpp.far(0))
            run("ip", "link", "set", f"peer{number}", "up", namespace=vpp.far(0))
        made = Ends(vpp)
        yield made
        made.client.close()


def test_lacp_agrees_loses_a_member_and_gets_it_back(ends: Ends) -> None:
    """With slow timers: a kernel that is a process may be late for fast ones. Another test has silence."""
    far = ends.far
    settings = ("mode", "802.3ad", "miimon", "100", "lacp_rate", "slow", "xmit_hash_policy", "layer3+4")
    run("ip", "link", "add", "bond9", "address", FAR_MAC, "type", "bond", *settings, namespace=far)
    for device in ("peer0", "peer1"):
        run("ip", "link", "set", device, "down", namespace=far)
        run("ip", "link", "set", device, "master", "bond9", namespace=far)
    run("ip", "link", "set", "bond9", "up", namespace=far)
    run("ip", "link", "add", "link", "bond9", "name", "tagged", "type", "vlan", "id", "10", namespace=far)
    run("ip", "link", "set", "tagged", "up", namespace=far)
    for source in SOURCES:
        run("ip", "address", "add", f"{source}/24", "dev", "bond9", namespace=far)
    run("ip", "address", "add", "10.10.0.2/24", "dev", "tagged", namespace=far)

    ends.go([
        Bond("bond0", 0, "lacp", MAC, "l34"),
        *(Ethernet(f"part{number}", AfPacket(f"nic{number}"), MAC) for number in range(2)),
        *(BondMember("bond0", f"part{number}", long_timeout=True) for number in range(2)),
        SubInterface("bond0.10", "bond0", 10),
        LcpPair("bond0", "bond0", ends.vpp.mirror_namespace),
        LcpPair("bond0.10", "bond0.10", ends.vpp.mirror_namespace),
        Address("bond0", ip_interface("10.0.0.1/24")),
        Address("bond0.10", ip_interface("10.10.0.1/24")),
    ])  # fmt: skip
    wait_until(
        lambda: ends.states() == ["active"] * 2,
        timeout_s=AGREED_S,
        what="LACP's agreement",
        instead=lambda: str(ends.members()),
    )
    wait_until(ends.agreed, timeout_s=AGREED_S, what="a far end that passes packets by both, too")
    for member in ends.members().values():
        assert member.actor is not None and member.partner is not None
        assert (member.actor.system, member.partner.system) == (MAC, FAR_MAC)
    wait_until(ends.all_answered, timeout_s=AGREED_S, what="answers to every flow")
    wait_until(partial(ends.all_of_three, "10.10.0.1"), timeout_s=AGREED_S, what="an answer on the VLAN")
    before = [ends.out(f"part{number}") for number in range(2)]
    wait_until(ends.all_answered, timeout_s=AGREED_S, what="answers to every flow again")
    sent = [ends.out(f"part{number}") - was for number, was in enumerate(before)]
    assert all(count >= 3 for count in sent), f"{sent}: one member carries all flows"

    # The other end takes one out of its bond, and says so by LACP.
    run("ip", "link", "set", "peer0", "nomaster", namespace=far)
    wait_until(lambda: ends.states() == ["waiting", "active"], timeout_s=AGREED_S, what="a member that waits")
    assert ends.members()["part0"].reason
    wait_until(ends.all_answered, timeout_s=AGREED_S, what="answers by the member that is left")
    wait_until(partial(ends.all_of_three, "10.10.0.1"), timeout_s=AGREED_S, what="an answer on the VLAN")
    run("ip", "link", "set", "peer0", "down", namespace=far)
    run("ip", "link", "set", "peer0", "master", "bond9", namespace=far)
    wait_until(lambda: ends.states() == ["active"] * 2, timeout_s=AGREED_S, what="the member again")
    wait_until(ends.all_answered, timeout_s=AGREED_S, what="answers by both members")
    ends.go([])
    run("ip", "link", "delete", "bond9", namespace=far)


@pytest.mark.parametrize(
    ("tunnel", "kind", "more", "mtu"),
    [
        (GreTunnel, "gre", (), 1476),
        (GreTunnel, "ip6gre", ("encaplimit", "none"), 1456),
        (IpipTunnel, "sit", ("mode", "any"), 1480),
        (IpipTunnel, "ip6tnl", ("mode", "any", "encaplimit", "none"), 1460),
    ],
)
def test_a_tunnel_ends_at_the_kernel(
    ends: Ends, tunnel: type[GreTunnel | IpipTunnel], kind: str, more: tuple[str, ...], mtu: int
) -> None:
    over_ipv6 = kind.startswith("ip6")
    own, far, length = ("2001:db8::1", "2001:db8::2", 64) if over_ipv6 else ("192.0.2.1", "192.0.2.2", 24)
    there = (*more, "local", far, "remote", own, "ttl", "64")
    run("ip", "address", "add", f"{far}/{length}", "dev", "peer2", namespace=ends.far)
    run("ip", "link", "add", "tunnel", "type", kind, *there, namespace=ends.far)
    run("ip", "link", "set", "tunnel", "up", "mtu", str(mtu), namespace=ends.far)
    run("ip", "address", "add", "10.9.0.2/30", "dev", "tunnel", namespace=ends.far)
    run("ip", "address", "add", "2001:db8:a::2/64", "dev", "tunnel", "nodad", namespace=ends.far)
    ends.go([
        Ethernet("wan0", AfPacket("nic2"), nic_mac(2)),
        LcpPair("wan0", "wan0", ends.vpp.mirror_namespace),
        Address("wan0", ip_interface(f"{own}/{length}")),
        tunnel("tun1", ip_address(own), ip_address(far), mtu=mtu),
        LcpPair("tun1", "tun1", ends.vpp.mirror_namespace, "tun"),
        Address("tun1", ip_interface("10.9.0.1/30")),
        Address("tun1", ip_interface("2001:db8:a::1/64")),
    ])  # fmt: skip
    for destination in ("10.9.0.1", "2001:db8:a::1"):
        wait_until(
            partial(ends.all_of_three, destination),
            timeout_s=AGREED_S,
            what=f"an answer of {destination} through the tunnel",
        )
    assert ends.answered("10.9.0.1", "-M", "do", "-s", str(mtu - 28)) == 3
    ends.go([])
    run("ip", "link", "delete", "tunnel", namespace=ends.far)
    run("ip", "address", "delete", f"{far}/{length}", "dev", "peer2", namespace=ends.far)
