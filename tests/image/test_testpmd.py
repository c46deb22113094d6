"""DPDK drives vmxnet3 in the guest: two NICs bound as the table says, and its own testpmd joins two hosts.

The data plane is stopped for it: this shows NIC, binding and driver, without VPP.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab import namespaces
from tests.image import testpmd_files
from tests.image.fleet import Fleet, Member
from tests.image.kinds import VMXNET3
from tests.image.patience import wait_for
from tests.image.router import Router
from tests.image.two_hosts import TwoHosts

UNIT = "image-tests-testpmd"
DRIVER = "uio_pci_generic"
FOLDER = "/var/lib/image-tests-testpmd"
"""Nobody but root may write there or above, which DPDK insists on."""
SLICE = "vpp.slice"
"""VPP's, whose CPUs the host's services may not use."""


KIND = VMXNET3


@pytest.fixture(scope="module")
def member(fleet: Fleet) -> Member:
    """A router with two vmxnet3 data NICs; testpmd takes them from its data plane."""
    return fleet.member(KIND)


@pytest.fixture(scope="module")
def hosts(member: Member) -> TwoHosts:
    """Two hosts; their addresses are put on one network once there is no router between them."""
    return member.hosts


@pytest.fixture(scope="module")
def router(member: Member) -> Router:
    """The router."""
    return member.router


def _pci_of(router: Router, mac: str) -> str:
    """The PCI address of the NIC, in whichever namespace the kernel's device is."""
    for inside in ([], ["ip", "netns", "exec", "dataplane"]):
        for link in json.loads(router.root(*inside, "ip", "-json", "-details", "link", "show")):
            if mac in (link.get("address"), link.get("permaddr")) and link.get("parentbus") == "pci":
                return str(link["parentdev"])
    raise AssertionError(f"no NIC with {mac}")


def _bind(router: Router, pci: str, driver: str) -> None:
    device = f"/sys/bus/pci/devices/{pci}"
    router.root("modprobe", driver)
    router.root("tee", f"{device}/driver_override", stdin=f"{driver}\n".encode())
    router.root("tee", f"{device}/driver/unbind", stdin=pci.encode(), check=False)
    router.root("tee", "/sys/bus/pci/drivers_probe", stdin=pci.encode())
    bound = router.root("readlink", "-f", f"{device}/driver").strip()
    assert bound.endswith(f"/{driver}"), bound


def test_testpmd_joins_two_hosts_over_vmxnet3(router: Router, hosts: TwoHosts, directory: Path) -> None:
    addresses = [_pci_of(router, hosts.mac(side)) for side in (1, 2)]
    router.root("systemctl", "stop", "millrace-agent.service", "vpp.service", timeout_s=120, check=False)
    router.root("sysctl", "-w", "vm.nr_hugepages=256")
    for pci in addresses:
        _bind(router, pci, DRIVER)
    allowed = [word for pci in addresses for word in ("-a", pci)]
    files = testpmd_files.fetch(directory)
    router.send_tree(files, sorted(path.name for path in files.iterdir()), FOLDER)
    testpmd = testpmd_files.argv(
        FOLDER,
        *("-l", "0,1", "-m", "256", "--file-prefix", "imagetests", *allowed, "--"),
        *("--forward-mode=io", "--auto-start", "--stats-period=2", "--total-num-mbufs=8192"),
    )
    router.root("systemd-run", "--quiet", f"--unit={UNIT}", f"--slice={SLICE}", "--", *testpmd)
    one_network = [
        replace(hosts.tap(side), addresses=(f"10.78.0.{side}/24",), gateways=()) for side in (1, 2)
    ]
    for tap in one_network:
        tap.configure()
    try:
        wait_for(lambda: hosts.ping("10.78.0.2"), timeout_s=60, what="an echo through testpmd")
        assert hosts.ping("10.78.0.2", count=20)
        # Joined as by a cable: each is the other's neighbor by its own MAC address.
        right = namespaces.run_in(hosts.right, ["cat", "/sys/class/net/port0/address"]).strip()
        assert right in namespaces.run_in(hosts.left, ["ip", "neighbor", "show", "10.78.0.2"])
    finally:
        log = router.root("journalctl", "-b", "-u", UNIT, "--no-pager", check=False)
        print(log[-3000:])
    assert "net_vmxnet3" in log
