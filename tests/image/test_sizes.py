"""A machine with more CPUs: VPP has workers, and the host's services stay off their CPUs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.image.artefacts import Artefacts
from tests.image.boots import Boots
from tests.image.patience import wait_for, wall_time
from tests.image.router import Router
from tests.image.two_hosts import TwoHosts

CPUS = 4
HOST_CPUS = "0-1"
"""CPU 1 is VPP's main thread's, which leaves it time; 2 and 3 are the workers'."""


@pytest.fixture(scope="module")
def hosts() -> TwoHosts:
    """The two hosts."""
    return TwoHosts(10)


@pytest.fixture(scope="module")
def router(built: Artefacts, boots: Boots, hosts: TwoHosts) -> Router:
    """A router of the size that the OVA calls medium, forwarding."""
    if built.dataplane != "vpp":
        pytest.skip("no VPP in this image")
    booted = boots.between(hosts, "medium", "virtio-net-pci", vcpus=CPUS, memory_mb=4096)
    with wall_time("medium: commit of two data NICs to the first echo"):
        booted.patch({"interfaces": hosts.interfaces()})
        hosts.wait_until_forwarding(timeout_s=180)
    # The last that is done about CPUs, once all of the machine has booted.
    wait_for(
        lambda: _interrupt_cpus(booted) == "3",
        timeout_s=600,
        what="interrupts off the workers' CPUs",
        pause_s=2,
    )
    return booted


def _interrupt_cpus(router: Router) -> str:
    shown = router.shell("cat", "/proc/irq/default_smp_affinity", check=False)  # ssh may not be up yet
    return shown.strip().lstrip("0")


def test_every_cpu_but_two_has_a_worker_of_its_own(router: Router) -> None:
    shown = router.root("vppctl", "show", "threads")
    # Lines end as on a terminal.
    threads = re.findall(r"^ *[0-9]+ +(vpp_\w+) .*? ([0-9]+) +[0-9]+ +[0-9]+\s*$", shown, re.MULTILINE)
    assert threads == [("vpp_main", "1"), ("vpp_wk_0", "2"), ("vpp_wk_1", "3")], shown


@pytest.mark.parametrize("unit", ["system.slice", "user.slice", "init.scope"])
def test_the_host_keeps_off_the_workers(router: Router, unit: str) -> None:
    assert router.shell("cat", f"/sys/fs/cgroup/{unit}/cpuset.cpus.effective").strip() == HOST_CPUS


def test_interrupts_keep_off_the_workers(router: Router) -> None:
    assert _interrupt_cpus(router) == "3"
    shown = router.shell("cat", "/proc/interrupts")
    management = re.findall(r"^ *([0-9]+):.* virtio[0-9]+-(?:in|out)put\.0$", shown, re.MULTILINE)
    assert management, shown
    for number in management:
        assert router.shell("cat", f"/proc/irq/{number}/smp_affinity_list").strip() == HOST_CPUS


def test_the_workers_may_run_on_theirs(router: Router) -> None:
    tasks = router.root("systemctl", "show", "vpp", "--property=ControlGroup", "--value").strip()
    assert not tasks.startswith("/system.slice"), tasks
    shown = router.shell("cat", f"/sys/fs/cgroup/{Path(tasks).parts[1]}/cpuset.cpus.effective")
    assert shown.strip() == f"0-{CPUS - 1}"


def test_packet_buffers_are_for_all_threads(router: Router) -> None:
    """8,192 for each thread, in huge pages that were reserved while memory was in one piece."""
    shown = router.root("vppctl", "show", "buffers")
    (total,) = re.findall(r"^default-numa-0 +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +([0-9]+) ", shown, re.MULTILINE)
    assert int(total) >= 3 * 8192 - 64, shown
    assert int(router.shell("cat", "/proc/sys/vm/nr_hugepages")) * 2 >= 3 * 8192 * 2496 >> 20


def test_both_directions_pass_through_the_workers(router: Router, hosts: TwoHosts) -> None:
    assert hosts.ping("10.77.2.2", count=20)
    assert hosts.ping("10.77.1.2", source=hosts.right, count=20)
    assert hosts.ping("2001:db8:77:2::2", count=20)
    shown = router.root("vppctl", "show", "interface", "rx-placement")
    thread, placed = "", {}
    for line in shown.splitlines():
        if found := re.match(r"Thread [0-9]+ \((\w+)\)", line):
            thread = found[1]
        elif found := re.match(r" +(\S+) queue [0-9]+ ", line):
            placed[found[1]] = thread
    nics = {name: thread for name, thread in placed.items() if name.startswith("virtio-")}
    assert len(nics) == 2 and all(thread.startswith("vpp_wk_") for thread in nics.values()), shown
