"""A lab's network is made, mended and removed without a trace, and never touches what is not its own.

::

    lx-lan --- nic-lan [lx-dataplane] nic-wan --- lx-wan --- lx-wanhost
                        nic-core --- lx-core --- lx-corehost
"""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import namespaces
from lab.command import run
from lab.errors import LabConflict
from lab.leftovers import marked_processes
from lab.namespaces import Namespaces
from lab.topology import Topology
from tests.live_lab import clear_dead_lab
from tests.requirements import needs_root_netns

pytestmark = needs_root_netns
_PREFIX = "lx"


def _traces() -> dict[str, list[str]]:
    """What a lab leaves on a machine, as far as it could be ours."""
    folders = ("/run/netns", "/etc/netns", "/etc/frr", "/var/run/frr", "/var/lib/frr", "/run/millrace-lab")
    return {
        folder: sorted(entry.name for entry in Path(folder).iterdir() if _PREFIX in entry.name)
        for folder in folders
        if Path(folder).is_dir()
    }


@pytest.fixture
def topology(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topology]:
    clear_dead_lab(_PREFIX)
    before = _traces()
    made = Topology(_PREFIX, tmp_path_factory.mktemp("lx"), "linux")
    yield made
    made.destroy()
    left = {folder: names for folder, names in _traces().items() if names}
    assert left == {folder: names for folder, names in before.items() if names}


def test_hosts_reach_their_neighbours(topology: Topology) -> None:
    topology.create()
    names = topology.namespaces
    for namespace, address in (
        (names.wan_host, "203.0.113.1"),
        (names.wan_host, "2001:db8:f113::1"),
        (names.core_host, "10.30.0.1"),
        (names.core_host, "2001:db8:130::1"),
    ):
        assert " 0% packet loss" in topology.run(namespace, ["ping", "-q", "-c", "1", "-W", "2", address])


def test_making_it_twice_changes_nothing(topology: Topology) -> None:
    topology.create()
    links = topology.run(topology.namespaces.router, ["ip", "-br", "link"])
    topology.create()
    assert topology.intact()
    assert topology.run(topology.namespaces.router, ["ip", "-br", "link"]) == links


def test_a_lost_namespace_is_made_again(topology: Topology) -> None:
    topology.create()
    run(["ip", "netns", "delete", topology.namespaces.core])
    assert not topology.intact()
    topology.create()
    assert topology.intact()


def test_a_namespace_of_somebody_else_is_refused_and_kept(topology: Topology) -> None:
    foreign = topology.namespaces.wan
    namespaces.add(foreign)
    try:
        with pytest.raises(LabConflict, match=foreign):
            topology.create()
        topology.destroy()
        assert namespaces.exists(foreign)
    finally:
        namespaces.delete(foreign)


def test_a_supervisor_that_was_killed_leaves_no_process(topology: Topology) -> None:
    topology.create()
    with topology.supervised(peers=True, frr=True) as supervisor:
        supervisor.wait_running(60)
        assert topology.frr_vty_dir.joinpath("zebra.vty").exists()
        zebra = supervisor.pid("zebra")
        assert Path(f"/var/tmp/frr/zebra.{zebra}").exists()
        os.kill(int(supervisor.pid_file.read_text()), signal.SIGKILL)
        os.kill(marked_processes(topology.directory)[0], signal.SIGKILL)
    assert marked_processes(topology.directory) == []
    topology.destroy()
    assert not Path(f"/var/tmp/frr/zebra.{zebra}").exists()


def test_what_a_killed_run_left_is_removed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its processes have ended; its namespaces, and perhaps its directory, are left."""
    before = _traces()
    killed = Topology(_PREFIX, tmp_path_factory.mktemp("lx"), "linux")
    killed.create()
    shutil.rmtree(killed.directory)
    clear_dead_lab(_PREFIX)
    left = {folder: names for folder, names in _traces().items() if names}
    assert left == {folder: names for folder, names in before.items() if names}
    assert not killed.directory.exists()


def test_the_vpp_layout_keeps_the_nics_apart(tmp_path_factory: pytest.TempPathFactory) -> None:
    with Topology(_PREFIX, tmp_path_factory.mktemp("lx"), "vpp") as topology:
        names = topology.namespaces
        assert names == Namespaces.named(_PREFIX, "vpp")
        assert "nic-lan" in topology.run(names.nic, ["ip", "-br", "link"])
        assert "nic-lan" not in topology.run(names.router, ["ip", "-br", "link"])
        forwarding = ["sysctl", "-n", "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"]
        assert topology.run(names.router, forwarding).split() == ["0", "0"]
