"""NICs as sysfs describes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.platform.pci import PciNic, network_devices
from tests.unit.platform.machine import IO_BAR, FakeBus


def test_what_is_read_of_a_bus(tmp_path: Path) -> None:
    bus = FakeBus(tmp_path / "sys")
    bus.add("0000:00:04.0", "1af4:1000", "ens4", "52:54:00:00:00:aa", virtio=True, bar=IO_BAR)
    bus.add("0000:00:03.0", "15ad:07b0", "ens3", driver="vmxnet3", iommu=True)
    bus.add("0000:00:05.0", "8086:154c", None, driver="vfio-pci", pin=0)
    bus.add("0000:00:06.0", "10ec:8168", None, driver=None)
    bus.add("0000:00:01.0", "8086:7010", None, driver="ata_piix", pci_class="0x010180")
    assert network_devices(bus.sysfs) == [
        PciNic("0000:00:03.0", "15ad:07b0", "ens3", "52:54:00:00:00:01", "vmxnet3", iommu=True),
        PciNic("0000:00:04.0", "1af4:1000", "ens4", "52:54:00:00:00:aa", "virtio-pci", legacy_io=True),
        PciNic("0000:00:05.0", "8086:154c", None, None, "vfio-pci", intx=False),
        PciNic("0000:00:06.0", "10ec:8168", None, None, None),
    ]


def test_a_machine_without_a_bus_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="devices"):
        network_devices(tmp_path)
