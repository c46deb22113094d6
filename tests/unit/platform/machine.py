"""A PCI bus in a directory: sysfs as far as the boot reads and writes it, with a kernel that answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

IO_BAR = "0x000000000000c000 0x000000000000c01f 0x0000000000040101\n"
MEMORY_BAR = "0x00000000febd0000 0x00000000febd0fff 0x0000000000040200\n"


@dataclass
class FakeBus:
    """NICs below ``sysfs``; ``answer`` plays the kernel after something was written."""

    sysfs: Path
    drivers: dict[str, str] = field(default_factory=dict)
    """The kernel's own driver of each PCI id."""
    refuses: set[tuple[str, str]] = field(default_factory=set)
    """(PCI address, driver) pairs that do not work."""

    def __post_init__(self) -> None:
        (self.sysfs / "bus/pci/devices").mkdir(parents=True)
        (self.sysfs / "bus/pci/drivers_probe").write_text("")

    def add(
        self,
        pci: str,
        pci_id: str,
        device: str | None,
        mac: str = "52:54:00:00:00:01",
        *,
        driver: str | None = "virtio-pci",
        virtio: bool = False,
        bar: str = MEMORY_BAR,
        pin: int = 1,
        pci_class: str = "0x020000",
        iommu: bool = False,
    ) -> Path:
        """Put a device on the bus."""
        path = self.sysfs / "bus/pci/devices" / pci
        path.mkdir()
        vendor, number = pci_id.split(":")
        (path / "vendor").write_text(f"0x{vendor}\n")
        (path / "device").write_text(f"0x{number}\n")
        (path / "class").write_text(f"{pci_class}\n")
        (path / "resource").write_text(bar + MEMORY_BAR)
        (path / "config").write_bytes(bytes(0x3D) + bytes([pin]) + bytes(0xC2))
        (path / "driver_override").write_text("(null)\n")
        if iommu:
            (path / "iommu_group").mkdir()
        if driver is not None:
            self.attach(pci, driver)
        if device is not None:
            below = path / "virtio0" if virtio else path
            (below / "net" / device).mkdir(parents=True)
            (below / "net" / device / "address").write_text(f"{mac.upper()}\n")
        return path

    def attach(self, pci: str, driver: str) -> None:
        """The driver has the device from now on."""
        home = self.sysfs / "bus/pci/drivers" / driver
        home.mkdir(parents=True, exist_ok=True)
        (home / "unbind").touch()
        link = self.sysfs / "bus/pci/devices" / pci / "driver"
        link.unlink(missing_ok=True)
        link.symlink_to(home)

    def driver(self, pci: str) -> str | None:
        """Who has the device."""
        link = self.sysfs / "bus/pci/devices" / pci / "driver"
        return link.resolve().name if link.is_symlink() else None
