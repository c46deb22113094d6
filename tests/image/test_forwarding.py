"""From power on to the first packet with nobody at the console: seed, REST, two data NICs, traffic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.image.boots import Boots
from tests.image.machine import NicModel
from tests.image.patience import BOOT_S, wait_for, wall_time
from tests.image.router import Router
from tests.image.two_hosts import INTERFACES, TwoHosts
from tests.live_lab import json_of

FLOW_PPS = 200
FLOW_S = 10
DPDK_PLUGIN = "/usr/lib/x86_64-linux-gnu/vpp_plugins/dpdk_plugin.so"


@dataclass(frozen=True)
class Case:
    """A kind of machine, and the driver that the table gives its data NICs where no DPDK plugin is."""

    name: str
    model: NicModel
    driver: str
    hardware: dict[str, Any] = field(default_factory=dict)


CASES = (
    Case("virtio", "virtio-net-pci", "virtio_pci"),
    Case("vmxnet3", "vmxnet3", "af_packet", {"chipset": "pc"}),
    Case("modern-virtio-uefi", "virtio-net-pci-non-transitional", "af_packet", {"uefi": True}),
)


BOOT_ID = "/proc/sys/kernel/random/boot_id"


@dataclass(frozen=True)
class Between:
    """A router that forwards between two hosts."""

    router: Router
    hosts: TwoHosts
    case: Case


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def between(request: pytest.FixtureRequest, boots: Boots) -> Iterator[Between]:
    """Booted with a seed, configured over REST by its NICs' MAC addresses."""
    case: Case = request.param
    hosts = TwoHosts(0x20 + CASES.index(case))
    router = boots.between(hosts, case.name, case.model, **case.hardware)
    # Also one that does not forward must not run on beside the next: there are not cores for two.
    try:
        with wall_time(f"{case.name}: login, commit of two data NICs, first echo through the guest"):
            router.patch({"interfaces": hosts.interfaces()})
            hosts.wait_until_forwarding()
        yield Between(router, hosts, case)
    finally:
        router.hang_up()
        router.machine.kill()


def test_the_seed_named_the_router(between: Between) -> None:
    assert between.router.shell("hostname").strip() == between.case.name


def test_status_names_the_image_and_its_data_plane(between: Between, boots: Boots) -> None:
    status = json_of(between.router.api.get("/status"))
    assert status["dataplane"] == boots.built.dataplane
    assert status["version"] == status["web_version"]
    assert status["revision"] >= 1
    assert status["drift"] == []


def test_every_unit_runs(between: Between) -> None:
    shown = between.router.root("systemctl", "list-units", "--failed", "--plain", "--no-legend")
    assert shown.strip() == ""


def test_echoes_of_both_families_and_of_full_size_pass(between: Between) -> None:
    for address in ("10.77.2.2", "2001:db8:77:2::2"):
        assert between.hosts.ping(address, count=10)
    assert between.hosts.ping("10.77.2.2", count=5, size_bytes=1472)


def test_udp_passes_and_is_counted(between: Between, directory: Path) -> None:
    before = _counters(between.router)
    flow = between.hosts.flow(directory, pps=FLOW_PPS, seconds=FLOW_S)
    assert flow.sent >= FLOW_PPS * FLOW_S * 0.9
    assert flow.received == flow.sent - flow.receiver_drops
    assert flow.duplicates == 0

    def counted() -> bool:
        after = _counters(between.router)
        received = after["left0"]["rx_packets"] - before["left0"]["rx_packets"]
        sent = after["right0"]["tx_packets"] - before["right0"]["tx_packets"]
        return bool(min(received, sent) >= flow.sent)

    wait_for(counted, timeout_s=30, what=f"{flow.sent} packets in the counters of {INTERFACES}")


def test_the_kernel_does_not_forward_beside_vpp(between: Between, boots: Boots) -> None:
    if boots.built.dataplane != "vpp":
        pytest.skip("in an image without VPP the kernel forwards")
    inside = ("ip", "netns", "exec", "dataplane", "sysctl", "-n")
    for setting in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"):
        assert between.router.root(*inside, setting).strip() == "0"
    # VPP's own word, which knows nothing of Millrace: both NICs have received.
    assert between.router.root("vppctl", "show", "interface").count("rx packets") >= len(INTERFACES)


def test_each_nic_has_the_driver_of_the_table(between: Between, boots: Boots) -> None:
    if boots.built.dataplane != "vpp":
        pytest.skip("without VPP the kernel keeps its drivers")
    states = _states(between.router)
    wanted = between.case.driver
    if wanted == "af_packet" and between.router.root("find", DPDK_PLUGIN, check=False).strip():
        wanted = "dpdk"
    assert {states[name]["driver"] for name in INTERFACES} == {wanted}


def test_a_restarted_vpp_forwards_again(between: Between, boots: Boots) -> None:
    if boots.built.dataplane != "vpp":
        pytest.skip("no VPP in this image")
    between.router.root("systemctl", "restart", "vpp.service")
    with wall_time(f"{between.case.name}: VPP restarted to the first echo"):
        between.hosts.wait_until_forwarding(timeout_s=90)


def test_a_reboot_keeps_the_configuration(between: Between) -> None:
    before = json_of(between.router.api.get("/status"))
    boot = between.router.shell("cat", BOOT_ID)
    between.router.root("systemctl", "reboot", check=False)
    between.router.hang_up()
    wait_for(lambda: not between.hosts.ping("10.77.2.2"), timeout_s=120, what="the reboot")
    with wall_time(f"{between.case.name}: reboot to the first echo"):
        between.hosts.wait_until_forwarding(timeout_s=BOOT_S)
    between.router.wait_until_up(f"{between.case.name}: and from there to REST")
    between.router.forget_api()
    after = json_of(between.router.api.get("/status"))
    assert (after["revision"], after["digest"]) == (before["revision"], before["digest"])
    assert between.router.shell("hostname").strip() == between.case.name
    assert between.router.shell("cat", BOOT_ID) != boot


def _counters(router: Router) -> Any:
    return json_of(router.api.get("/counters"))["interfaces"]


def _states(router: Router) -> dict[str, Any]:
    answer = json_of(router.api.get("/state/interfaces"))
    return {entry["name"]: entry for entry in answer["interfaces"]}
