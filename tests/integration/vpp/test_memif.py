"""Memifs that find their other end: rings as the slave offers them, and packets through the router.

memif-traffic --- left 10.1.0.1 [ VPP ] right 10.2.0.1 --- memif-traffic
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from ipaddress import ip_interface
from pathlib import Path

import pytest

from lab import namespaces
from lab.memif_traffic import MemifTraffic, Stream
from tests.integration.vpp.harness import PrivateVpp
from vpp_config import (
    Address,
    LcpPair,
    Memif,
    MemifRings,
    MemifSocket,
    Session,
    SubInterface,
    VppObject,
    VppState,
    plan,
)

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_LISTENS = MemifSocket("ends", 3)
_OFFERS = MemifSocket("ends", 3, MemifRings(4096, 8192, 2, 3))
_MACS = ("02:fe:00:00:01:01", "02:fe:00:00:01:02")
_LINK_UP = 2


@pytest.fixture
def session(private_vpp: PrivateVpp) -> Iterator[Session]:
    session = Session(private_vpp.client())
    yield session
    _go(session, [])


def _go(session: Session, objects: list[VppObject]) -> None:
    desired = VppState.of(objects)
    for step in plan(desired, session.observe()):
        session.apply(step)
    assert plan(desired, session.observe()) == ()


def _wait(condition: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < ends, what
        time.sleep(0.05)


def test_both_ends_have_the_rings_that_the_slave_offers(session: Session, private_vpp: PrivateVpp) -> None:
    _go(session, [
        _LISTENS, _OFFERS,
        Memif("near", _LISTENS.socket_id, 0, _MACS[0]), Memif("far", _OFFERS.socket_id, 0, _MACS[1]),
    ])  # fmt: skip

    def ends() -> list[tuple[int, int]]:
        rows = session.client.dump("memif_dump")
        return [(row.ring_size, row.buffer_size) for row in rows if row.flags & _LINK_UP]

    _wait(lambda: len(ends()) == 2, "the ends do not find each other")
    # The master reports nothing of them, even connected: this is why they are kept in the socket's id.
    assert sorted(ends()) == [(1, 0), (4096, 8192)]
    shown = private_vpp.cli("show", "memif")
    assert shown.count("num-s2m-rings 3 num-m2s-rings 2") == 2
    assert shown.count("ring-size 4096") == 10
    # Without the slave the master's link goes down, and the interface stays as it was asked for.
    _go(session, [_LISTENS, Memif("near", _LISTENS.socket_id, 0, _MACS[0])])
    _wait(lambda: not ends(), "the link stays up")


def test_packets_pass_from_one_memif_to_another(
    session: Session, private_vpp: PrivateVpp, tmp_path: Path
) -> None:
    objects: list[VppObject] = []
    for number, side in enumerate(("left", "right"), 1):
        socket = MemifSocket(side, number)
        objects += [
            socket,
            Memif(side, socket.socket_id, number, _MACS[number - 1]),
            LcpPair(side, side, private_vpp.mirror_namespace),
            Address(side, ip_interface(f"10.{number}.0.1/24")),
        ]
    _go(session, objects)
    folder = private_vpp.directory / "memif"
    ends = [f"memif:{folder}/{side}.sock:{number}" for number, side in enumerate(("left", "right"), 1)]
    with MemifTraffic(tmp_path, ends, cpu=0) as traffic:
        stream = Stream("v4", _MACS[0], "10.1.0.9", 1, "10.2.0.9", 1, 1, (64, 1518))
        traffic.stream(0, stream)
        _wait(lambda: traffic.learn(0.2).received > 0, "nothing arrives")
        traffic.quiet(0)
        _arrived(traffic)
        traffic.stream(0, stream)
        told = traffic.steady(2000, 1)
        traffic.quiet(0)
        arrived = told.received - told.foreign + _arrived(traffic)
    assert told.offered >= 100
    assert (told.refused, arrived) == (0, told.offered)


def test_the_mirror_leaves_vlans_their_mtu(session: Session, private_vpp: PrivateVpp) -> None:
    """linux_nl gives the mirror's MTU to VPP's device, and VPP what is new there to every sub-interface."""
    mirrors = private_vpp.mirror_namespace
    vlan = SubInterface("vlan7", "near", 7, mtu=1280)
    _go(session, [
        _LISTENS, Memif("near", _LISTENS.socket_id, 0, _MACS[0]), vlan, LcpPair("near", "near", mirrors),
    ])  # fmt: skip
    address = Address("near", ip_interface("10.9.0.1/24"))
    # What comes last of the mirror's is heard last.
    namespaces.run_in(mirrors, ["ip", "address", "add", str(address.address), "dev", "near"])
    _wait(lambda: address.key in session.observe(), "linux_nl does not tell VPP of the address")
    assert session.observe()[vlan.key] == vlan
    lower = Memif("near", _LISTENS.socket_id, 0, _MACS[0], mtu=1400)
    _go(session, [_LISTENS, lower, vlan, LcpPair("near", "near", mirrors), address])
    assert session.observe()[vlan.key] == vlan


def _arrived(traffic: MemifTraffic) -> int:
    """Late packets of the stream, until no more arrive: other processes may delay VPP."""
    late = 0
    while (one := traffic.learn(0.3)).received > one.foreign:
        late += one.received - one.foreign
    return late
