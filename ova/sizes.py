"""The sizes of a router, and its disk. One table for OVF, libvirt and VNF descriptors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """One deployment option."""

    name: str
    label: str
    description: str
    cpus: int
    memory_mib: int


SIZES = (
    Size(
        "small",
        "Small: 2 vCPU, 2 GB",
        "For a lab or a small site.",
        2,
        2048,
    ),
    Size(
        "medium",
        "Medium: 4 vCPU, 4 GB",
        "For an edge router with several peers.",
        4,
        4096,
    ),
    Size(
        "large",
        "Large: 8 vCPU, 8 GB",
        "For full BGP tables, one million routes.",
        8,
        8192,
    ),
)
DEFAULT_SIZE = SIZES[0]
DATA_NICS = 2
"""Data interfaces of a new router; up to nine NICs can be added on ESXi, more on KVM."""


def size_named(name: str) -> Size:
    """The size with this name. Raises KeyError."""
    return {size.name: size for size in SIZES}[name]
