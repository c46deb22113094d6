"""NICs added, removed and moved to other slots: an address stays with the NIC that has its MAC address."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.image.fleet import Fleet, Member
from tests.image.kinds import VIRTIO
from tests.image.machine import Nic
from tests.image.patience import BOOT_S, wait_for, wall_time
from tests.image.router import Router
from tests.image.two_hosts import TwoHosts

STRANGER = "52:54:00:6d:08:7f"


KIND = VIRTIO


@pytest.fixture(scope="module")
def member(fleet: Fleet) -> Member:
    """A router that forwards, management in the first slot."""
    return fleet.member(KIND)


@pytest.fixture(scope="module")
def hosts(member: Member) -> TwoHosts:
    """The two hosts."""
    return member.hosts


@pytest.fixture(scope="module")
def router(member: Member) -> Router:
    """The router."""
    return member.router


def _start_with(router: Router, nics: tuple[Nic, ...]) -> None:
    router.machine.kill()
    router.hang_up()
    router.machine.hardware = replace(router.machine.hardware, nics=nics)
    router.machine.start()


def test_a_new_order_with_a_stranger_between_moves_no_address(router: Router, hosts: TwoHosts) -> None:
    management, left, right = router.machine.hardware.nics
    # Every NIC is in another slot than before, and one that nobody knows comes first.
    _start_with(router, (Nic(STRANGER), right, left, management))
    with wall_time("NICs in another order: power on to the first echo"):
        hosts.wait_until_forwarding(timeout_s=BOOT_S)
    assert hosts.ping("10.77.1.1", source=hosts.left)
    assert hosts.ping("10.77.2.1", source=hosts.right)
    router.wait_until_up("NICs in another order: management follows its MAC address, to REST")
    router.forget_api()
    assert {name: entry["match"] for name, entry in router.config()["interfaces"].items()} == {
        "left0": {"mac": hosts.mac(1)},
        "right0": {"mac": hosts.mac(2)},
    }


def test_a_removed_nic_takes_its_addresses_along(router: Router, hosts: TwoHosts) -> None:
    management, *_, right = _by_mac(router, hosts)
    _start_with(router, (right, management))
    wait_for(
        lambda: hosts.ping("10.77.2.1", source=hosts.right),
        timeout_s=BOOT_S,
        what="the NIC that is left, with its own address",
    )
    assert not hosts.ping("10.77.1.1", source=hosts.right, count=2)


def _by_mac(router: Router, hosts: TwoHosts) -> tuple[Nic, Nic, Nic]:
    nics = {nic.mac: nic for nic in router.machine.hardware.nics}
    left, right = nics.pop(hosts.mac(1)), nics.pop(hosts.mac(2))
    del nics[STRANGER]
    (management,) = nics.values()
    return management, left, right
