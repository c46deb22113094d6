"""Network devices on the PCI bus, as sysfs shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from appliance.platform.nic_table import Device

SYSFS = Path("/sys")
_NETWORK_CLASS = "0x02"
_IORESOURCE_IO = 0x100


@dataclass(frozen=True)
class PciNic:
    """One NIC of the machine."""

    pci: str
    """Address, ``0000:03:00.0``."""
    pci_id: str
    """``vendor:device``."""
    device: str | None
    """Name of its network device; None while no driver of the kernel's has it."""
    mac: str | None
    """Its permanent address, small letters; None without a network device."""
    bound_to: str | None
    """Driver that has it, of the kernel's or for user space."""
    legacy_io: bool = False
    intx: bool = True
    iommu: bool = False

    def for_choice(self) -> Device:
        """The facts that the table uses."""
        return Device(self.pci_id, self.legacy_io, self.intx, self.iommu)


def network_devices(sysfs: Path = SYSFS) -> list[PciNic]:
    """Every NIC on the bus by address. Raises OSError when there is no PCI bus to read."""
    bus = sysfs / "bus/pci/devices"
    return [_read(path) for path in sorted(bus.iterdir()) if _text(path / "class").startswith(_NETWORK_CLASS)]


def read(pci: str, sysfs: Path = SYSFS) -> PciNic:
    """One NIC as it is now. Raises OSError when it is gone."""
    return _read(sysfs / "bus/pci/devices" / pci)


def _read(path: Path) -> PciNic:
    vendor, device = (_text(path / name).removeprefix("0x") for name in ("vendor", "device"))
    netdev = min(_netdevs(path), key=lambda found: found.name, default=None)
    driver = path / "driver"
    return PciNic(
        pci=path.name,
        pci_id=f"{vendor}:{device}",
        device=netdev.name if netdev is not None else None,
        mac=_text(netdev / "address").lower() if netdev is not None else None,
        bound_to=driver.resolve().name if driver.exists() else None,
        legacy_io=_has_legacy_io(path),
        intx=_has_intx(path),
        iommu=(path / "iommu_group").exists(),
    )


def _netdevs(path: Path) -> Iterator[Path]:
    """Its network devices; a virtio NIC's is below the virtio device."""
    for parent in (path, *path.glob("virtio*")):
        if (parent / "net").is_dir():
            yield from (parent / "net").iterdir()


def _has_legacy_io(path: Path) -> bool:
    """Whether BAR 0, the first line of ``resource`` (start, end, flags), is I/O ports."""
    first = _text(path / "resource").splitlines()[:1]
    fields = first[0].split() if first else []
    return len(fields) == 3 and bool(int(fields[2], 16) & _IORESOURCE_IO)


def _has_intx(path: Path) -> bool:
    """PCI configuration space, byte 0x3d: interrupt pin, 0 for none (PCI Local Bus 3.0, 6.2.4)."""
    try:
        with (path / "config").open("rb") as file:
            header = file.read(0x40)
    except FileNotFoundError:
        return False
    return len(header) > 0x3D and header[0x3D] != 0


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""
