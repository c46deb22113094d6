"""Handing a NIC over and taking it back, against a simulated kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.platform import binding
from appliance.platform.binding import BindingFailed
from tests.unit.platform.machine import FakeBus

PCI = "0000:00:04.0"


class Kernel:
    """Does what Linux does when sysfs is written: the files are read after each write."""

    def __init__(self, bus: FakeBus, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bus, self.own = bus, own
        self.written: list[tuple[str, str]] = []
        write = Path.write_text

        def write_text(path: Path, text: str, *arguments: object) -> int:
            count = write(path, text)
            self.written.append((path.name, text))
            if path.name == "unbind":
                (bus.sysfs / "bus/pci/devices" / text / "driver").unlink()
            elif path.name == "drivers_probe":
                self.probe(text)
            return count

        monkeypatch.setattr(Path, "write_text", write_text)

    def probe(self, pci: str) -> None:
        path = self.bus.sysfs / "bus/pci/devices" / pci
        driver = (path / "driver_override").read_text().strip() or self.own
        if (pci, driver) in self.bus.refuses:
            return
        self.bus.attach(pci, driver)
        if driver == self.own:
            (path / "net/eth9").mkdir(parents=True, exist_ok=True)


@pytest.fixture
def bus(tmp_path: Path) -> FakeBus:
    return FakeBus(tmp_path / "sys")


def test_a_nic_is_given_to_a_driver_by_name(bus: FakeBus, monkeypatch: pytest.MonkeyPatch) -> None:
    bus.add(PCI, "15ad:07b0", None, driver="vmxnet3")
    kernel = Kernel(bus, "vmxnet3", monkeypatch)
    binding.bind(PCI, "uio_pci_generic", sysfs=bus.sysfs)
    assert bus.driver(PCI) == "uio_pci_generic"
    assert kernel.written == [("driver_override", "uio_pci_generic"), ("unbind", PCI), ("drivers_probe", PCI)]


def test_bound_already_is_left_alone(bus: FakeBus, monkeypatch: pytest.MonkeyPatch) -> None:
    bus.add(PCI, "15ad:07b0", None, driver="uio_pci_generic")
    kernel = Kernel(bus, "vmxnet3", monkeypatch)
    binding.bind(PCI, "uio_pci_generic", sysfs=bus.sysfs)
    assert kernel.written == []


def test_a_refused_nic_goes_back_to_the_kernel(bus: FakeBus, monkeypatch: pytest.MonkeyPatch) -> None:
    bus.add(PCI, "8086:154c", None, driver="iavf")
    bus.refuses.add((PCI, "uio_pci_generic"))
    Kernel(bus, "iavf", monkeypatch)
    with pytest.raises(BindingFailed, match=r"uio_pci_generic does not take 0000:00:04\.0"):
        binding.bind(PCI, "uio_pci_generic", sysfs=bus.sysfs)
    assert bus.driver(PCI) == "iavf"


def test_a_nic_taken_back_has_a_network_device_again(bus: FakeBus, monkeypatch: pytest.MonkeyPatch) -> None:
    bus.add(PCI, "15ad:07b0", None, driver="vfio-pci")
    Kernel(bus, "vmxnet3", monkeypatch)
    binding.release(PCI, sysfs=bus.sysfs)
    assert bus.driver(PCI) == "vmxnet3"


def test_waiting_for_the_network_device_ends(bus: FakeBus, monkeypatch: pytest.MonkeyPatch) -> None:
    bus.add(PCI, "15ad:07b0", None, driver="vfio-pci")
    bus.refuses.add((PCI, "vmxnet3"))
    Kernel(bus, "vmxnet3", monkeypatch)
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    with pytest.raises(BindingFailed, match="no network device"):
        binding.release(PCI, sysfs=bus.sysfs, clock=lambda: now[0], sleep=sleep)


def test_a_nic_that_is_not_there_is_said_so(bus: FakeBus) -> None:
    with pytest.raises(BindingFailed, match="cannot be given back"):
        binding.bind("0000:00:1f.0", "vfio-pci", sysfs=bus.sysfs)
