"""A tunnel between two VPPs, and one that ends in a program of the test's own.

10.1.0.2                                                                10.2.0.2
left host --- nic1 [ one ] nic0 ---------- peer0 [ other ] nic0 --- right host
                   10.9.0.1  gre1 over 192.0.2.0/24 or 2001:db8::/64  10.9.0.2
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface, ip_network

import pytest

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
    VppObject,
    VppState,
    plan,
)
from vpp_config.objects.gre import GreTunnel

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_OUTSIDE = {4: ("192.0.2.1", "192.0.2.2", 24), 6: ("2001:db8::1", "2001:db8::2", 64)}
_ANSWERED_S = 20.0
_PEER = """
import socket, sys
listening = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
listening.bind(("peer0", 0))
listening.settimeout(10)
print("ready", flush=True)
while True:
    packet, (_, _, kind, *_) = listening.recvfrom(2000)
    if kind != socket.PACKET_OUTGOING and packet[0] == 0x45 and packet[9] == 47:
        inner = packet[24:]
        print(packet[8], packet[20:24].hex(), inner[9], inner[8], socket.inet_ntoa(inner[16:20]), flush=True)
        break
answer = bytearray(inner)
answer[12:16], answer[16:20] = inner[16:20], inner[12:16]
answer[9], answer[8] = 89, 1
answer[10:12] = b"\\0\\0"
total = sum(int.from_bytes(answer[at:at + 2]) for at in range(0, 20, 2))
answer[10:12] = (~(total % 0xFFFF) & 0xFFFF).to_bytes(2)
sending = socket.socket(socket.AF_INET, socket.SOCK_RAW, 47)
for number in range(5):
    sending.sendto(b"\\0\\0\\x08\\0" + answer, ("192.0.2.1", 0))
"""
_MIRROR = """
import socket
listening = socket.socket(socket.AF_INET, socket.SOCK_RAW, 89)
listening.settimeout(15)
print("ready", flush=True)
packet = listening.recv(2000)
print(packet[8], socket.inet_ntoa(packet[12:16]))
"""


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

    def ping(self, *options: str) -> int:
        """How many of three pings from host to host are answered."""
        ping = ["ping", "-n", "-q", "-i", "0.2", "-W", "1", "-c", "3", *options, "10.2.0.2"]
        full = ["ip", "netns", "exec", self.one.far(1), *ping]
        match = re.search(r"(\d+) received", subprocess.run(full, capture_output=True, text=True).stdout)
        assert match is not None
        return int(match[1])


@pytest.fixture(scope="module")
def ends() -> Iterator[Ends]:
    require_root_netns()
    require_vpp()
    with PrivateVpp(nics=2) as one, PrivateVpp(nics=1) as other:
        run("ip", "link", "set", "peer0", "netns", other.namespace, namespace=one.far(0))
        run("sysctl", "-qw", "net.ipv6.conf.peer0.accept_dad=0", namespace=other.namespace)
        run("ip", "link", "set", "peer0", "up", namespace=other.namespace)
        for far, device, net in ((one.far(1), "peer1", "10.1.0"), (other.far(0), "peer0", "10.2.0")):
            run("ip", "addr", "add", f"{net}.2/24", "dev", device, namespace=far)
            run("ip", "route", "add", "default", "via", f"{net}.1", namespace=far)
        clients = one.client(), other.client()
        yield Ends(one, other, (Session(clients[0]), Session(clients[1])))
        for client in clients:
            client.close()


def _wait(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _ANSWERED_S
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def _end(ends: Ends, end: int, version: int, *more: VppObject) -> list[VppObject]:
    """What one of the VPPs has to hold."""
    netns = (ends.one, ends.other)[end].mirror_namespace
    wan, lan = ("nic0", "nic1") if end == 0 else ("peer0", "nic0")
    outside = _OUTSIDE[version]
    source, destination = ip_address(outside[end]), ip_address(outside[1 - end])
    return [
        Ethernet("wan0", AfPacket(wan), nic_mac(3 + end)),
        Ethernet("lan0", AfPacket(lan), nic_mac(5 + end)),
        GreTunnel("gre1", source, destination, 1476 if version == 4 else 1456),
        *(LcpPair(name, name, netns) for name in ("wan0", "lan0")),
        LcpPair("gre1", "gre1", netns, "tun"),
        Address("wan0", ip_interface(f"{source}/{outside[2]}")),
        Address("lan0", ip_interface(f"10.{1 + end}.0.1/24")),
        Address("gre1", ip_interface(f"10.9.0.{1 + end}/30")),
        *more,
    ]


def _route(ends: Ends) -> None:
    """The routes of both ends, in the mirrors' namespaces, through the tunnel's mirror."""
    for vpp, there, hop in ((ends.one, "10.2.0.0/24", "10.9.0.2"), (ends.other, "10.1.0.0/24", "10.9.0.1")):
        run("ip", "route", "replace", there, "via", hop, namespace=vpp.mirror_namespace)


@pytest.mark.parametrize("version", [4, 6])
def test_hosts_reach_each_other_through_the_tunnel(ends: Ends, version: int) -> None:
    ends.go(_end(ends, 0, version), _end(ends, 1, version))
    _route(ends)
    _wait(lambda: ends.ping() == 3, "pings get lost")
    largest = (1476 if version == 4 else 1456) - 28
    assert ends.ping("-M", "do", "-s", str(largest)) == 3
    assert ends.ping("-M", "do", "-s", str(largest + 1)) == 0
    denied = Acl("no-left", (AclRule("deny", ip_network("10.1.0.0/24"), ip_network("0.0.0.0/0")),))
    ends.go(_end(ends, 0, version), _end(ends, 1, version, denied, AclBinding("gre1", ("no-left",))))
    assert ends.ping() == 0
    ends.go(_end(ends, 0, version), _end(ends, 1, version))
    _wait(lambda: ends.ping() == 3, "pings get lost after the access list is gone")


def test_what_the_mirrors_send_to_all_neighbors_of_the_tunnel_arrives(ends: Ends) -> None:
    """As a routing protocol does: to a multicast group, with TTL 1, from one mirror to the other."""
    ends.go(_end(ends, 0, 4), _end(ends, 1, 4))
    namespaces = ends.one.mirror_namespace, ends.other.mirror_namespace
    script = "import socket, struct; s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 89);" + (
        "g = struct.pack('4s4si', socket.inet_aton('224.0.0.5'), bytes(4), socket.if_nametoindex('gre1'));"
    )
    hear = script + (
        "s.setsockopt(0, socket.IP_ADD_MEMBERSHIP, g); s.settimeout(15);"
        "print('ready', flush=True); p = s.recv(2000); print(p[8], socket.inet_ntoa(p[12:16]))"
    )
    say = script + "s.setsockopt(0, socket.IP_MULTICAST_IF, g); s.sendto(b'hello', ('224.0.0.5', 0))"
    hearing = _start(namespaces[1], hear)
    end = time.monotonic() + _ANSWERED_S
    while hearing.poll() is None:
        assert time.monotonic() < end, "nothing arrived"
        run(sys.executable, "-c", say, namespace=namespaces[0])
        time.sleep(0.2)
    assert hearing.communicate()[0].split() == ["1", "10.9.0.1"]


def _start(namespace: str, script: str) -> subprocess.Popen[str]:
    """Start a script, and wait until it says that it is ready."""
    argv = ["ip", "netns", "exec", namespace, sys.executable, "-c", script]
    started = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None and started.stdout.readline() == "ready\n"
    return started


def test_the_packets_are_those_of_rfc_2784() -> None:
    """Read and answered by a program independent of VPP: 4 bytes of header, TTL 254, no key."""
    require_root_netns()
    require_vpp()
    with PrivateVpp(nics=1) as vpp:
        client = vpp.client()
        session = Session(client)
        desired = VppState.of([
            Ethernet("wan0", AfPacket("nic0"), nic_mac(0)),
            LcpPair("wan0", "wan0", vpp.mirror_namespace),
            Address("wan0", ip_interface("192.0.2.1/24")),
            GreTunnel("gre1", ip_address("192.0.2.1"), ip_address("192.0.2.2")),
            LcpPair("gre1", "gre1", vpp.mirror_namespace, "tun"),
            Address("gre1", ip_interface("10.9.0.1/30")),
        ])  # fmt: skip
        for step in plan(desired, session.observe()):
            session.apply(step)
        run("ip", "addr", "add", "192.0.2.2/24", "dev", "peer0", namespace=vpp.far(0))
        mirror, peer = _start(vpp.mirror_namespace, _MIRROR), _start(vpp.far(0), _PEER)
        argv = ["ping", "-n", "-c", "10", "-i", "0.2", "-W", "1", "10.9.0.2"]
        pinging = subprocess.Popen(
            ["ip", "netns", "exec", vpp.mirror_namespace, *argv], stdout=subprocess.DEVNULL
        )
        assert peer.communicate(timeout=20)[0].split() == ["254", "00000800", "1", "64", "10.9.0.2"]
        assert mirror.communicate(timeout=20)[0].split() == ["1", "10.9.0.2"]
        pinging.wait(timeout=20)
        client.close()
