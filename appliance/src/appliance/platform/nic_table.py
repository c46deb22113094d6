"""Which driver takes which NIC: the one table, by PCI id, and the choice that follows from it. Pure.

The choice is made before VPP sees the device: VPP's own virtio driver crashes on a device without a legacy
interface, and a NIC bound to another driver has no kernel driver to fall back to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

VppDriver = Literal["native", "dpdk", "af_packet"]
Binding = Literal["uio_pci_generic", "vfio-pci"]


@dataclass(frozen=True)
class Family:
    """NICs that one driver takes. ``ids`` are ``vendor:device``, hexadecimal."""

    name: str
    driver: Literal["native", "dpdk"]
    ids: tuple[str, ...]
    kernel_driver: str
    """The driver of the kernel's that has it otherwise."""
    bifurcated: bool = False
    """DPDK works beside the kernel's driver: the NIC stays bound to it."""
    most_rx_queues: int | None = None
    """DPDK refuses more receive queues, and any number but a power of two. None: it accepts any number."""

    def rx_queues(self, wanted: int) -> int:
        """As many receive queues as DPDK takes, at most ``wanted``, which is 1 or more."""
        return wanted if (most := self.most_rx_queues) is None else 1 << min(wanted, most).bit_length() - 1


FAMILIES: tuple[Family, ...] = (
    Family("virtio, transitional", "native", ("1af4:1000",), "virtio-pci"),
    Family("virtio, modern only", "dpdk", ("1af4:1041",), "virtio-pci"),
    # Before version 6 of the device.
    Family("VMware vmxnet3", "dpdk", ("15ad:07b0",), "vmxnet3", most_rx_queues=16),
    Family(
        "Intel ixgbe (82599, X540, X550)",
        "dpdk",
        (
            "8086:10fb", "8086:10f7", "8086:10fc", "8086:1507", "8086:151c", "8086:1528", "8086:1529",
            "8086:154a", "8086:154d", "8086:1557", "8086:1558", "8086:1560", "8086:1563", "8086:15aa",
            "8086:15ab", "8086:15ac", "8086:15ad", "8086:15ae", "8086:15c2", "8086:15c4", "8086:15c6",
            "8086:15c8", "8086:15ce", "8086:15d1", "8086:15e4", "8086:15e5",
        ),
        "ixgbe",
    ),
    Family(
        "Intel ixgbe, virtual function",
        "dpdk",
        ("8086:10ed", "8086:1515", "8086:1565", "8086:15a8", "8086:15c5"),
        "ixgbevf",
    ),
    Family(
        "Intel i40e (X710, XL710, XXV710, X722)",
        "dpdk",
        (
            "8086:1572", "8086:1580", "8086:1581", "8086:1583", "8086:1584", "8086:1585", "8086:1586",
            "8086:1587", "8086:1588", "8086:1589", "8086:158a", "8086:158b", "8086:15ff", "8086:104e",
            "8086:104f", "8086:37ce", "8086:37cf", "8086:37d0", "8086:37d1", "8086:37d2", "8086:37d3",
        ),
        "i40e",
    ),
    Family(
        "Intel ice (E810, E822, E823)",
        "dpdk",
        (
            "8086:1591", "8086:1592", "8086:1593", "8086:1599", "8086:159a", "8086:159b", "8086:188a",
            "8086:188b", "8086:188c", "8086:188d", "8086:188e", "8086:1890", "8086:1891", "8086:1892",
            "8086:1893", "8086:1894", "8086:1897", "8086:1898", "8086:1899", "8086:189a", "8086:124c",
            "8086:124d", "8086:124e", "8086:124f", "8086:151d",
        ),
        "ice",
    ),
    Family(
        "Intel iavf (virtual function of i40e and ice)",
        "dpdk",
        ("8086:154c", "8086:1889", "8086:37cd"),
        "iavf",
    ),
    Family(
        "NVIDIA mlx5 (ConnectX-4 to ConnectX-7, BlueField)",
        "dpdk",
        (
            "15b3:1013", "15b3:1014", "15b3:1015", "15b3:1016", "15b3:1017", "15b3:1018", "15b3:1019",
            "15b3:101a", "15b3:101b", "15b3:101c", "15b3:101d", "15b3:101e", "15b3:101f", "15b3:1021",
            "15b3:a2d2", "15b3:a2d3", "15b3:a2d6", "15b3:a2dc",
        ),
        "mlx5_core",
        bifurcated=True,
    ),
)  # fmt: skip

_BY_ID = {pci_id: family for family in FAMILIES for pci_id in family.ids}

AF_PACKET_COST = (
    "every packet goes through the kernel: expect some 0.3 to 0.5 million packets a second, not millions"
)
"""The cost of af_packet, in words; the order of magnitude of one queue on current hardware."""


@dataclass(frozen=True)
class Device:
    """The facts about a NIC that the choice needs."""

    pci_id: str
    legacy_io: bool = False
    """BAR 0 is an I/O port range, through which virtio's legacy interface speaks."""
    intx: bool = True
    """It has a legacy interrupt line, which uio_pci_generic requires."""
    iommu: bool = False
    """It is behind an IOMMU, real or virtual."""


@dataclass(frozen=True)
class Choice:
    """How VPP drives a NIC."""

    driver: VppDriver
    bind_to: Binding | None = None
    """The user-space driver to bind it to; None leaves it with the kernel's driver."""
    family: str = "other"
    cost: str | None = None
    """Why it is slower than it could be: a sentence; None when it is not."""


def family_of(pci_id: str) -> Family | None:
    """The table's row for a PCI id, or None for anything else."""
    return _BY_ID.get(pci_id.lower())


def choose(device: Device, *, has_dpdk: bool) -> Choice:
    """The table's answer for a NIC. ``has_dpdk``: this VPP has the DPDK plugin. Never raises."""
    family = family_of(device.pci_id)
    if family is None:
        return _af_packet("other", f"no fast driver is known for PCI id {device.pci_id}")
    driver = family.driver
    if driver == "native" and not device.legacy_io:
        # A device that answers to the transitional id without the ports crashes VPP as a modern one does.
        driver = "dpdk"
    if driver == "dpdk" and not has_dpdk:
        return _af_packet(family.name, f"{family.name} needs VPP's DPDK plugin, which this VPP lacks")
    if family.bifurcated:
        return Choice(driver, None, family.name)
    if device.iommu:
        return Choice(driver, "vfio-pci", family.name)
    if not device.intx:
        reason = "it has no interrupt line for uio_pci_generic, and there is no IOMMU for vfio-pci"
        return _af_packet(family.name, reason)
    return Choice(driver, "uio_pci_generic", family.name)


def fallback(choice: Choice, reason: str) -> Choice:
    """The same NIC through the kernel's driver, because ``reason``."""
    return _af_packet(choice.family, reason)


def _af_packet(family: str, reason: str) -> Choice:
    return Choice("af_packet", None, family, f"af_packet, because {reason}; {AF_PACKET_COST}")


def table() -> Iterator[tuple[str, str, str, str]]:
    """Rows for people: NIC, PCI ids, VPP's driver, what the device is bound to."""
    for family in FAMILIES:
        driver = "VPP native (virtio)" if family.driver == "native" else "DPDK plugin"
        bound = f"{family.kernel_driver} (stays)" if family.bifurcated else "vfio-pci or uio_pci_generic"
        yield family.name, ", ".join(f"`{pci_id}`" for pci_id in family.ids), driver, bound
    yield "anything else; or no DPDK plugin", "any", "af_packet", "the kernel's driver (stays)"


def table_markdown() -> str:
    """The table as it stands in ``docs/data-nics.md``."""
    lines = ["| NIC | PCI id | driver in VPP | bound to |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in table()]
    return "\n".join(lines) + "\n"
