"""From power on to the first packet with nobody at the console: seed, REST, two data NICs, traffic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.image.artefacts import Artefacts
from tests.image.fleet import Fleet, Member
from tests.image.kinds import KINDS, Kind
from tests.image.patience import BOOT_S, wait_for, wall_time
from tests.image.router import Router
from tests.image.two_hosts import INTERFACES
from tests.live_lab import json_of

FLOW_PPS = 200
FLOW_S = 10
DPDK_PLUGIN = "/usr/lib/x86_64-linux-gnu/vpp_plugins/dpdk_plugin.so"
BOOT_ID = "/proc/sys/kernel/random/boot_id"


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind of machine."""
    chosen: Kind = request.param
    return chosen


@pytest.fixture(scope="module")
def between(fleet: Fleet, kind: Kind) -> Member:
    """A router that forwards between two hosts, configured by its NICs' MAC addresses."""
    return fleet.member(kind)


def test_the_seed_named_the_router(between: Member) -> None:
    assert between.router.shell("hostname").strip() == between.kind.name


def test_status_names_the_image_and_its_data_plane(between: Member, built: Artefacts) -> None:
    status = json_of(between.router.api.get("/status"))
    assert status["dataplane"] == built.dataplane
    assert status["version"] == status["web_version"]
    assert status["revision"] >= 1
    assert status["drift"] == []


def test_every_unit_runs(between: Member) -> None:
    shown = between.router.root("systemctl", "list-units", "--failed", "--plain", "--no-legend")
    assert shown.strip() == ""


def test_echoes_of_both_families_and_of_full_size_pass(between: Member) -> None:
    for address in ("10.77.2.2", "2001:db8:77:2::2"):
        assert between.hosts.ping(address, count=10)
    assert between.hosts.ping("10.77.2.2", count=5, size_bytes=1472)


def test_udp_passes_and_is_counted(between: Member, directory: Path) -> None:
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


def test_the_kernel_does_not_forward_beside_vpp(between: Member, built: Artefacts) -> None:
    if built.dataplane != "vpp":
        pytest.skip("in an image without VPP the kernel forwards")
    inside = ("ip", "netns", "exec", "dataplane", "sysctl", "-n")
    for setting in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"):
        assert between.router.root(*inside, setting).strip() == "0"
    # VPP's own word, which knows nothing of Millrace: both NICs have received.
    assert between.router.root("vppctl", "show", "interface").count("rx packets") >= len(INTERFACES)


def test_each_nic_has_the_driver_of_the_table(between: Member, built: Artefacts) -> None:
    if built.dataplane != "vpp":
        pytest.skip("without VPP the kernel keeps its drivers")
    states = _states(between.router)
    wanted = between.kind.driver
    if wanted == "af_packet" and between.router.root("find", DPDK_PLUGIN, check=False).strip():
        wanted = "dpdk"
    assert {states[name]["driver"] for name in INTERFACES} == {wanted}


def test_a_restarted_vpp_forwards_again(between: Member, built: Artefacts) -> None:
    if built.dataplane != "vpp":
        pytest.skip("no VPP in this image")
    between.router.root("systemctl", "restart", "vpp.service")
    with wall_time(f"{between.kind.name}: VPP restarted to the first echo"):
        between.hosts.wait_until_forwarding(timeout_s=90)


def test_a_reboot_keeps_the_configuration(between: Member) -> None:
    before = json_of(between.router.api.get("/status"))
    boot = between.router.shell("cat", BOOT_ID)
    between.router.root("systemctl", "reboot", check=False)
    between.router.hang_up()
    wait_for(lambda: not between.hosts.ping("10.77.2.2"), timeout_s=120, what="the reboot")
    with wall_time(f"{between.kind.name}: reboot to the first echo"):
        between.hosts.wait_until_forwarding(timeout_s=BOOT_S)
    between.router.wait_until_up(f"{between.kind.name}: and from there to REST")
    between.router.forget_api()
    after = json_of(between.router.api.get("/status"))
    assert (after["revision"], after["digest"]) == (before["revision"], before["digest"])
    assert between.router.shell("hostname").strip() == between.kind.name
    assert between.router.shell("cat", BOOT_ID) != boot


def _counters(router: Router) -> Any:
    return json_of(router.api.get("/counters"))["interfaces"]


def _states(router: Router) -> dict[str, Any]:
    answer = json_of(router.api.get("/state/interfaces"))
    return {entry["name"]: entry for entry in answer["interfaces"]}
