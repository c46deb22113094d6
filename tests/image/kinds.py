"""The kinds of machine that files share, in the order in which they are booted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.image.machine import NicModel


@dataclass(frozen=True)
class Kind:
    """A machine with two data NICs of a model. `number` is of its hosts (:class:`TwoHosts`).

    `driver` is what the table gives the NICs where no DPDK plugin is. With a `desk` its management network is
    a namespace of ours, and its seed alone configures it: static addresses, and the data NICs. Without, it
    gets its management address by DHCP, and its data NICs are configured over REST.
    """

    name: str
    number: int
    model: NicModel
    driver: str
    desk: bool
    hardware: dict[str, Any] = field(default_factory=dict, hash=False)


# Room for what the tests inside the guest start.
VIRTIO = Kind("virtio", 4, "virtio-net-pci", "virtio_pci", True, {"memory_mb": 4096})
# What testpmd takes comes on top.
VMXNET3 = Kind("vmxnet3", 14, "vmxnet3", "af_packet", True, {"chipset": "pc", "memory_mb": 3072})
MODERN = Kind("modern-virtio-uefi", 22, "virtio-net-pci-non-transitional", "af_packet", False, {"uefi": True})
UPGRADED = Kind("upgraded", 34, "virtio-net-pci", "virtio_pci", True)
"""Like the first kind: failing upgrades take an hour, and another machine is tested in the meantime."""
KINDS = (VIRTIO, VMXNET3, MODERN)
"""Of different NICs."""
MACHINES = (VIRTIO, UPGRADED, VMXNET3, MODERN)
"""All of them, the one with the longest tests first."""
