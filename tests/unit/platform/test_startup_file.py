"""VPP's startup file and the agent's settings as the boot writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.agent import settings as agent_settings
from appliance.dataplane.machine import Machine
from appliance.dataplane.nic_inventory import NicRecord
from appliance.dataplane.vpp import sizing, startup
from appliance.features.dataplane.model import Dataplane
from appliance.platform import agent_file, bgp_index, boot, route_carrier, startup_file
from appliance.programs import Ran

VMXNET3 = NicRecord(
    "eth1", "00:50:56:00:00:01", "0000:0b:00.0", "0000:0b:00.0", "15ad:07b0", "dpdk", "uio_pci_generic"
)
VIRTIO = NicRecord(
    "ens4", "52:54:00:00:00:01", "0000:00:04.0", "0000:00:04.0", "1af4:1000", "native", "uio_pci_generic"
)
GONE = NicRecord("eth7", "00:50:56:00:00:07", None, "0000:13:00.0", driver="dpdk")


@pytest.mark.parametrize("cpus", [1, 2, 4, 8])
@pytest.mark.parametrize(
    "document", [Dataplane(), Dataplane(workers=0, main_heap_mb=300), Dataplane(buffers_per_numa=9000)]
)
def test_the_agent_finds_no_difference_after_boot(cpus: int, document: Dataplane) -> None:
    """Otherwise its first check would restart VPP."""
    machine = Machine(cpus, 3920)
    wanted = sizing.settings(document, machine)
    text = startup_file.render(wanted, machine, [VMXNET3, VIRTIO], "dataplane")
    assert startup.read(text) == wanted
    assert startup.rewrite(text, wanted) == text


def test_only_the_nics_that_dpdk_drives_are_named() -> None:
    machine = Machine(4, 3920)
    text = startup_file.render(sizing.for_machine(machine), machine, [VIRTIO, VMXNET3, GONE], "dataplane")
    assert text.count("dev 0000:") == 1
    assert "dev 0000:0b:00.0 { name dpdk-0000:0b:00.0 num-rx-queues 2 num-tx-queues 3 }" in text
    assert "plugin dpdk_plugin.so { enable }" in text
    assert "0000:00:04.0" not in text


@pytest.mark.parametrize(("workers", "queues"), [(0, 1), (1, 1), (3, 2), (6, 4), (8, 8), (40, 16)])
def test_vmxnet3_gets_a_power_of_two_of_receive_queues(workers: int, queues: int) -> None:
    """DPDK's driver refuses to set up the NIC with any other number."""
    ixgbe = replace(VMXNET3, device="eth2", pci="0000:0c:00.0", pci_id="8086:10fb")
    first, second = startup_file.dpdk_devices([VMXNET3, ixgbe], workers)
    assert (first.rx_queues, second.rx_queues) == (queues, max(workers, 1))


def test_without_such_nics_the_plugin_stays_out() -> None:
    machine = Machine(2, 1990)
    text = startup_file.render(sizing.for_machine(machine), machine, [VIRTIO], "dataplane")
    assert "plugin dpdk_plugin.so { disable }" in text
    assert "dpdk {" not in text
    assert "poll-sleep-usec" not in text
    assert not startup.naps(text)


def test_linux_nl_is_not_loaded() -> None:
    """It would remove routes that the feeder gives."""
    machine = Machine(2, 1990)
    text = startup_file.render(sizing.for_machine(machine), machine, [], "dataplane")
    assert re.findall(r"plugin (linux_\w+)_plugin.so { enable }", text) == ["linux_cp"]


@pytest.mark.parametrize(("held", "refused"), [(None, False), ("feeder\n", False), ("linux_nl\n", True)])
def test_a_choice_of_linux_nl_is_refused_in_the_log(
    held: str | None, refused: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    choice = tmp_path / "route-carrier"
    if held is not None:
        choice.write_text(held)
    route_carrier.refuse_old_choice(choice)
    assert [record.levelname for record in caplog.records] == (["ERROR"] if refused else [])
    assert not refused or f"{choice} holds 'linux_nl', but only the feeder carries routes now" in caplog.text


def test_the_feeder_starts_only_where_vpp_is(tmp_path: Path) -> None:
    mark = tmp_path / "routes-by-feeder"
    route_carrier.announce(678_000, mark)
    assert mark.read_text() == "MOST_ROUTES=678000\n"
    route_carrier.announce(None, mark)
    assert not mark.exists()


def test_a_single_cpu_is_shared() -> None:
    machine = Machine(1, 1990)
    text = startup_file.render(sizing.for_machine(machine), machine, [], "dataplane")
    assert "poll-sleep-usec 100" in text
    assert "main-core" not in text


@pytest.mark.parametrize("machine", [Machine(4, 3920, 1), None])
@pytest.mark.parametrize("dataplane", ["vpp", "linux"])
def test_the_agent_reads_what_the_boot_writes(
    dataplane: str, machine: Machine | None, tmp_path: Path
) -> None:
    wanted = agent_file.settings(
        dataplane,  # type: ignore[arg-type]  # one of the two
        "dataplane",
        machine,
        frozenset(["ens3"]),
        frozenset([1000, 313]),
        Path("/run/millrace/nics.json"),
        dpdk=False,
    )
    path = tmp_path / "agent.json"
    path.write_text(agent_file.render(wanted))
    assert agent_settings.load(path) == wanted
    assert (wanted.vpp_startup_conf is None) == (dataplane == "linux" or machine is None)
    assert wanted.bgp_index_socket == bgp_index.SOCKET
    assert wanted.feeder_socket == (route_carrier.FEEDER_SOCKET if dataplane == "vpp" else None)


def test_emulated_cpus_are_not_spun() -> None:
    machine = Machine(2, 1990)
    text = startup_file.render(sizing.for_machine(machine), machine, [VIRTIO], "dataplane", emulated=True)
    assert "poll-sleep-usec 1000" in text
    assert startup.naps(text)
    assert startup.read(text) == sizing.for_machine(machine)


@pytest.mark.parametrize(
    ("said", "emulated"), [("qemu", True), ("kvm", False), ("vmware", False), ("none", False)]
)
def test_emulation_is_told_apart_from_virtual_machines(said: str, emulated: bool) -> None:
    class Detected:
        def run(self, argv: Sequence[str], timeout_s: float = 30.0, text: str | None = None) -> Ran:
            assert argv == ["systemd-detect-virt", "--vm"]
            return Ran(0 if said != "none" else 1, f"{said}\n", "")

    assert boot.is_emulated(Detected()) is emulated
