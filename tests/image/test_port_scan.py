"""What can be reached: ssh and https on the management side, nothing at all from a data interface."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from lab import namespaces
from tests.image.boots import Boots
from tests.image.machine import Hardware, Nic, NicModel
from tests.image.patience import BOOT_S, limit_s, wait_for, wall_time
from tests.image.router import HTTPS, SSH, Router
from tests.image.taps import Tap
from tests.image.two_hosts import TwoHosts

MANAGEMENT = "198.18.77.1"
MANAGEMENT_V6 = "2001:db8:99::1"
_SCAN_S = 600.0


MODELS: tuple[tuple[NicModel, int], ...] = (("virtio-net-pci", 4), ("vmxnet3", 14))
"""Data NICs that VPP has to itself, and data NICs it shares with the kernel, through af_packet."""


@pytest.fixture(scope="module", params=MODELS, ids=[model for model, _ in MODELS])
def model(request: pytest.FixtureRequest) -> tuple[NicModel, int]:
    """Model of the data NICs, and the number of the hosts."""
    chosen: tuple[NicModel, int] = request.param
    return chosen


@pytest.fixture(scope="module")
def hosts(model: tuple[NicModel, int]) -> TwoHosts:
    """The hosts on the data side."""
    return TwoHosts(model[1])


@pytest.fixture(scope="module")
def desk(hosts: TwoHosts) -> Tap:
    """The administrator's desk: a namespace on the management network."""
    near = hosts.tap(1)
    return replace(
        near,
        name=near.name.removesuffix("1") + "0",
        namespace=near.namespace.replace("left", "desk"),
        addresses=("198.18.77.2/24", "2001:db8:99::2/64"),
        gateways=(),
    )


@pytest.fixture(scope="module")
def router(boots: Boots, hosts: TwoHosts, desk: Tap, model: tuple[NicModel, int]) -> Iterator[Router]:
    """A router with a static management address from its seed, its data NICs configured by its seed, too.

    The desk reaches it over the tap; the tests' own REST goes there, too, from inside the namespace.
    """
    name, number = f"scan-{model[0]}", model[1]
    boots.on_end(hosts.remove)
    boots.on_end(desk.remove)
    document = {"schema_version": 1, "interfaces": hosts.interfaces()}
    seed = boots.seed(
        name,
        millrace={
            **boots.password_hash(),
            "management_address": f"{MANAGEMENT}/24",
            "management_ipv6_address": f"{MANAGEMENT_V6}/64",
            "configuration": document,
        },
    )
    management = Nic(f"52:54:00:6d:{number:02x}:01", tap=desk)
    hardware = Hardware(boots.overlay(name), (management, *hosts.nics(model[0])), seed=seed)
    machine = boots.machine(name, hardware)
    # The next one boots alone, whatever became of this: two at once take more than twice as long.
    try:
        with wall_time(f"{name}: power on to forwarding, configured by the seed alone"):
            hosts.wait_until_forwarding(timeout_s=BOOT_S)
        yield Router(machine, boots.credentials())
    finally:
        machine.kill()


def _scan(namespace: str, address: str, *tcp_ports: int) -> Any:
    argv = [sys.executable, "-m", "tests.image.scan", address, *map(str, tcp_ports)]
    with wall_time(f"scan of {address} from {namespace.rsplit('-', 1)[1]}"):
        return json.loads(namespaces.run_in(namespace, argv, timeout_s=limit_s(_SCAN_S)))


@pytest.mark.parametrize("address", [MANAGEMENT, MANAGEMENT_V6])
def test_management_offers_ssh_and_https(router: Router, desk: Tap, address: str) -> None:
    # It forwards before its page is there.
    wait_for(
        lambda: _scan(desk.namespace, address, SSH, HTTPS)["tcp"] == [SSH, HTTPS],
        timeout_s=BOOT_S,
        what="ssh and the page on the management network",
        pause_s=5,
    )
    assert _scan(desk.namespace, address) == {"tcp": [SSH, HTTPS], "udp": []}


@pytest.mark.parametrize("address", ["10.77.1.1", "2001:db8:77:1::1", "10.77.2.1"])
def test_a_data_interface_offers_nothing(router: Router, hosts: TwoHosts, address: str) -> None:
    assert hosts.ping(address)
    assert _scan(hosts.left, address) == {"tcp": [], "udp": []}


@pytest.mark.parametrize("address", [MANAGEMENT, MANAGEMENT_V6])
def test_management_cannot_be_reached_from_a_data_interface(
    router: Router, hosts: TwoHosts, address: str
) -> None:
    assert not hosts.ping(address, count=2)
    assert _scan(hosts.left, address, SSH, HTTPS) == {"tcp": [], "udp": []}


def test_the_desk_cannot_reach_through_to_the_data_side(router: Router, hosts: TwoHosts, desk: Tap) -> None:
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
