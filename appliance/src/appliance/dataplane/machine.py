"""The size of the machine that the data plane runs on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """What there is to share out."""

    cpus: int
    memory_mb: int
    numa_nodes: int = 1
