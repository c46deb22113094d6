"""Reserving huge pages while memory is not yet fragmented."""

from __future__ import annotations

from pathlib import Path

from appliance.dataplane.machine import Machine
from appliance.platform.pci import SYSFS

_POOL = "hugepages/hugepages-2048kB/nr_hugepages"


def reserve(pages: int, sysfs: Path = SYSFS) -> int:
    """Reserve this many of 2 MB, evenly on the NUMA nodes; returns how many there are. Never frees any.

    Raises OSError where the kernel has none of that size.
    """
    nodes = sorted((sysfs / "devices/system/node").glob("node[0-9]*")) if _numa(sysfs) else []
    pools = [node / _POOL for node in nodes] or [sysfs / "kernel/mm" / _POOL]
    share = -(-pages // len(pools))
    for pool in pools:
        if int(pool.read_text()) < share:
            pool.write_text(str(share))
    return sum(int(pool.read_text()) for pool in pools)


def _numa(sysfs: Path) -> bool:
    return (sysfs / "devices/system/node/node0" / _POOL).exists()


def machine(sysfs: Path = SYSFS, proc: Path = Path("/proc")) -> Machine:
    """The machine's size: CPUs that are on, memory, NUMA nodes. Raises OSError or ValueError."""
    cpus = cpu_list((sysfs / "devices/system/cpu/online").read_text())
    memory = next(
        line.split()[1]
        for line in (proc / "meminfo").read_text().splitlines()
        if line.startswith("MemTotal:")
    )
    nodes = len(list((sysfs / "devices/system/node").glob("node[0-9]*")))
    return Machine(len(cpus), int(memory) >> 10, max(nodes, 1))


def cpu_list(text: str) -> list[int]:
    """``0-2,5`` as the kernel writes it. Raises ValueError."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        low, _, high = part.partition("-")
        cpus += range(int(low), int(high or low) + 1)
    return cpus
