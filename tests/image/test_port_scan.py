"""The reachable services: ssh and https on the management side, nothing at all from a data interface."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lab import namespaces
from tests.image.fleet import MANAGEMENT, MANAGEMENT_V6, Fleet, Member
from tests.image.kinds import VIRTIO, VMXNET3, Kind
from tests.image.patience import limit_s, wall_time
from tests.image.router import HTTPS, SSH

DATA = ("10.77.1.1", "2001:db8:77:1::1", "10.77.2.1")
_SCAN_S = 900.0


@pytest.fixture(scope="module", params=[VIRTIO, VMXNET3], ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Data NICs that VPP has to itself, and data NICs it shares with the kernel, through af_packet."""
    chosen: Kind = request.param
    return chosen


@pytest.fixture(scope="module")
def member(fleet: Fleet, kind: Kind) -> Member:
    """A router with static management addresses, its data NICs configured."""
    return fleet.member(kind)


def _scans(namespace: str, addresses: Sequence[str], *tcp_ports: int) -> list[Any]:
    """The addresses at the same time: most of a scan is waiting for what does not answer."""
    argv = [sys.executable, "-m", "tests.image.scan"]

    def scan(address: str) -> Any:
        words = [*argv, address, *map(str, tcp_ports)]
        return json.loads(namespaces.run_in(namespace, words, timeout_s=limit_s(_SCAN_S)))

    with (
        wall_time(f"scan of {', '.join(addresses)} from {namespace.rsplit('-', 1)[1]}"),
        ThreadPoolExecutor(len(addresses)) as together,
    ):
        return list(together.map(scan, addresses))


def test_management_offers_ssh_and_https(member: Member) -> None:
    found = _scans(member.desk.namespace, (MANAGEMENT, MANAGEMENT_V6))
    assert found == [{"tcp": [SSH, HTTPS], "udp": []}] * 2


def test_a_data_interface_offers_nothing(member: Member) -> None:
    for address in DATA:
        assert member.hosts.ping(address)
    assert _scans(member.hosts.left, DATA) == [{"tcp": [], "udp": []}] * len(DATA)


@pytest.mark.parametrize("address", [MANAGEMENT, MANAGEMENT_V6])
def test_management_cannot_be_reached_from_a_data_interface(member: Member, address: str) -> None:
    assert not member.hosts.ping(address, count=2)
    assert _scans(member.hosts.left, (address,), SSH, HTTPS) == [{"tcp": [], "udp": []}]


def test_the_desk_cannot_reach_through_to_the_data_side(member: Member) -> None:
    hosts, desk = member.hosts, member.desk
    namespaces.run_in(desk.namespace, ["ip", "route", "replace", "10.77.0.0/16", "via", MANAGEMENT])
    assert hosts.ping(MANAGEMENT, source=desk.namespace)
    # An echo that came through would find no way back: what counts is whether it came.
    before = _echoes_received(hosts.right)
    for address in ("10.77.1.1", "10.77.2.2"):
        assert not hosts.ping(address, source=desk.namespace, count=2)
    assert _echoes_received(hosts.right) == before
    assert hosts.ping("10.77.2.2") and _echoes_received(hosts.right) == before + 1


def _echoes_received(namespace: str) -> int:
    names, values = (
        line.split()
        for line in namespaces.run_in(namespace, ["cat", "/proc/net/snmp"]).splitlines()
        if line.startswith("Icmp:")
    )
    return int(values[names.index("InEchos")])
