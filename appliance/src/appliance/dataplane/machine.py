"""The size of the machine that the data plane runs on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """The resources to be divided."""

    cpus: int
    memory_mb: int
    numa_nodes: int = 1
    shared: bool = False
    """Whether others use it too, as in a lab: then only the room for routes follows from it."""
