"""Sessions of NAT44, on the fake and on the real VPP: counted, listed one by one, and forgotten.

::

    10.77.1.2 peer0 --- nic0 lan0 [VPP] wan0 nic1 --- peer1 10.77.2.2
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_interface

import pytest

from tests.integration.vpp.conftest import Target
from tests.integration.vpp.harness import PrivateVpp, nic_mac, run
from vpp_config import Address, AfPacket, Ethernet, VppState, plan
from vpp_config.fake import FakeVpp
from vpp_config.fake.nat_calls import translate
from vpp_config.nat_sessions import (
    NatSession,
    end_nat_sessions,
    idle_timeouts,
    nat_table,
    nat_user_sessions,
    nat_users,
    timed_out_sessions,
)
from vpp_config.objects.nat import Nat
from vpp_config.objects.nat_interface import NatInterface
from vpp_config.objects.nat_mapping import NatMapping
from vpp_config.objects.nat_pool import NatPool
from vpp_config.stats import StatsSegment

_OUTSIDE, _REMOTE, _MAPPED = (IPv4Address(f"10.77.2.{number}") for number in (20, 2, 50))
_HOST, _OTHER = IPv4Address("10.77.1.7"), IPv4Address("10.77.1.9")
_MOST = 60
_REAL = pytest.mark.parametrize(
    "target", [pytest.param("real", marks=[pytest.mark.vpp, pytest.mark.root])], indirect=True
)
"""The fake has no stats segment and no clock."""
_SILENT = (
    "add table ip silent; flush table ip silent;"
    "add chain ip silent input { type filter hook input priority 0; };"
    "add rule ip silent input meta l4proto udp drop"
)
"""No ICMP error answers a packet, and so counts as one."""


def _send(source: IPv4Address, *ports: int) -> str:
    """A program that sends a UDP packet from each port of a host that need not be there."""
    return f"""
import socket, struct
link = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
ends = socket.inet_aton("{source}") + socket.inet_aton("{_REMOTE}")
for port in {ports}:
    udp = struct.pack("!HHHH", port, 7001, 9, 0) + b"?"
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0)
    link.sendto(head + ends + udp, ("{_REMOTE}", 0))
"""


@dataclass(frozen=True)
class Sender:
    """Makes inside hosts send, and knows the expected counts."""

    target: Target
    send: Callable[[IPv4Address, tuple[int, ...]], None]
    segment: StatsSegment | None
    """The fake has none."""

    def sessions(self, host: IPv4Address) -> dict[int, NatSession]:
        """By inside port."""
        return {one.inside_port: one for one in nat_user_sessions(self.target.client, host)}


def _row(source: IPv4Address, port: int) -> dict[str, object]:
    mapped = source == _OTHER
    return {
        "inside_ip_address": source,
        "inside_port": port,
        "outside_ip_address": _MAPPED if mapped else _OUTSIDE,
        "outside_port": port,
        "ext_host_address": _REMOTE,
        "ext_host_port": 7001,
        "protocol": 17,
        "flags": 0xC0 if mapped else 0x80,
        "time_since_last_heard": 0,
        "is_timed_out": False,
        "total_pkts": 1,
    }


@pytest.fixture
def sender(target: Target, request: pytest.FixtureRequest) -> Iterator[Sender]:
    """With NAT from lan0 to wan0, for few sessions."""
    session = target.session()
    wanted = VppState.of([
        Ethernet("lan0", AfPacket("nic0"), nic_mac(0)),
        Ethernet("wan0", AfPacket("nic1"), nic_mac(1)),
        Address("lan0", ip_interface("10.77.1.1/24")),
        Address("wan0", ip_interface("10.77.2.1/24")),
        Nat(_MOST, 300, 7440, 240, 60),
        NatPool((_OUTSIDE,)),
        NatMapping(_MAPPED, _OTHER),
        NatInterface("lan0", "inside"),
        NatInterface("wan0", "outside"),
    ])  # fmt: skip
    for step in plan(wanted, session.observe()):
        session.apply(step)
    if isinstance(target.client, FakeVpp):
        fake = target.client
        yield Sender(
            target, lambda source, ports: translate(fake, *(_row(source, one) for one in ports)), None
        )
        return
    vpp: PrivateVpp = request.getfixturevalue("private_vpp")
    for number in (0, 1):
        network, far = f"10.77.{number + 1}", vpp.far(number)
        run("ip", "addr", "replace", f"{network}.2/24", "dev", f"peer{number}", namespace=far)
    run("ip", "route", "replace", "default", "via", "10.77.1.1", namespace=vpp.far(0))
    run("nft", _SILENT, namespace=vpp.far(1))

    def send(source: IPv4Address, ports: tuple[int, ...]) -> None:
        run(sys.executable, "-c", _send(source, *ports), namespace=vpp.far(0))

    segment = StatsSegment(vpp.stats_socket)
    yield Sender(target, send, segment)
    segment.close()


def _until(condition: Callable[[], bool]) -> None:
    """Packets take their time through VPP."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_sessions_are_counted_told_and_ended(sender: Sender) -> None:
    client = sender.target.client
    assert nat_users(client) == {}
    sender.send(_HOST, (5001, 5002, 5003))
    sender.send(_OTHER, (6001,))
    _until(lambda: nat_users(client) == {_HOST: 3, _OTHER: 1})
    assert idle_timeouts(client) == {1: 60, 17: 300}
    assert timed_out_sessions(client) == 0
    told = sender.sessions(_HOST)
    assert set(told) == {5001, 5002, 5003}
    one = told[5001]
    assert (one.protocol, one.inside_address, one.outside_address) == (17, _HOST, _OUTSIDE)
    assert (one.remote_address, one.remote_port, one.static, one.timed_out) == (_REMOTE, 7001, False, False)
    assert (one.packets, 0 <= one.idle_s < 60) == (1, True)
    mapped = sender.sessions(_OTHER)[6001]
    assert (mapped.outside_address, mapped.outside_port, mapped.static) == (_MAPPED, 6001, True)
    assert nat_user_sessions(client, IPv4Address("10.77.1.77")) == []

    assert end_nat_sessions(client, [one, mapped]) == 2
    assert end_nat_sessions(client, [one, told[5002]]) == 1, "one that is gone is none"
    assert set(sender.sessions(_HOST)) == {5003}
    assert nat_users(client) == {_HOST: 1}
    assert end_nat_sessions(client, [told[5003]]) == 1
    assert nat_users(client) == {}
    # Mappings stay.
    sender.send(_OTHER, (6001,))
    _until(lambda: nat_users(client) == {_OTHER: 1})
    assert sender.sessions(_OTHER)[6001].static


def test_many_are_ended_in_one_call(sender: Sender) -> None:
    """More than are asked for before others get a turn."""
    sender.send(_HOST, tuple(range(5001, 5051)))
    _until(lambda: nat_users(sender.target.client) == {_HOST: 50})
    even = [one for port, one in sender.sessions(_HOST).items() if port % 2 == 0]
    assert end_nat_sessions(sender.target.client, [*even, *even]) == 25
    assert {port % 2 for port in sender.sessions(_HOST)} == {1}


def test_without_nat_there_are_none(target: Target) -> None:
    assert nat_users(target.client) == {}
    assert timed_out_sessions(target.client) == 0
    assert nat_user_sessions(target.client, _HOST) == []


@_REAL
def test_a_full_table_refuses_new_sessions_and_counts_them(sender: Sender) -> None:
    assert sender.segment is not None
    segment = sender.segment
    before = segment.read(nat_table)
    assert (before.held, before.limit) == ((0,), _MOST)
    sender.send(_HOST, tuple(range(5001, 5001 + _MOST)))
    _until(lambda: segment.read(nat_table).held == (_MOST,))
    assert segment.read(nat_table).refused == before.refused
    sender.send(_OTHER, (6001, 6002))
    _until(lambda: segment.read(nat_table).refused == before.refused + 2)
    assert nat_users(sender.target.client) == {_HOST: _MOST}
    # Existing sessions continue.
    sender.send(_HOST, (5001,))
    _until(lambda: sender.sessions(_HOST)[5001].packets == 2)
    assert end_nat_sessions(sender.target.client, [sender.sessions(_HOST)[5001]]) == 1
    sender.send(_OTHER, (6001,))
    _until(lambda: nat_users(sender.target.client).get(_OTHER) == 1)
    assert segment.read(nat_table).refused == before.refused + 2


@_REAL
def test_a_session_that_timed_out_is_held_until_a_new_one_comes(sender: Sender) -> None:
    """VPP counts it and tells that it timed out; its place is free."""
    assert sender.segment is not None
    client, segment = sender.target.client, sender.segment
    client.call("nat_set_timeouts", udp=1, tcp_established=1, tcp_transitory=1, icmp=1)
    sender.send(_HOST, tuple(range(5001, 5001 + _MOST)))
    _until(lambda: segment.read(nat_table).held == (_MOST,))
    _until(lambda: timed_out_sessions(client) == _MOST)
    assert all(one.timed_out for one in sender.sessions(_HOST).values())
    assert segment.read(nat_table).held == (_MOST,)

    def accepted() -> bool:
        # What VPP tells in whole seconds it decides by less.
        sender.send(_OTHER, (6001,))
        return nat_users(client).get(_OTHER) == 1

    _until(accepted)
    assert segment.read(nat_table).held[0] <= _MOST
