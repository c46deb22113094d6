"""How much of the machine VPP gets: threads, memory, packet buffers, huge pages.

Settings of the document win; the rest follows from the machine. Huge pages hold only VPP's packet buffers:
its heap and its statistics are ordinary memory.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, TypedDict

from appliance.config.vpp_heap import ALL_ELSE_BYTES
from appliance.dataplane.machine import Machine
from appliance.dataplane.vpp.startup import UNSAID, StartupSettings
from appliance.errors import Problem, ValidationFailed
from appliance.features.dataplane.model import Dataplane

RouteScale = Literal["standard", "full_tables"]
FULL_TABLE_ROUTES = 1_000_000

HUGEPAGE_MB = 2
FULL_TABLES_MB = 6000
"""Memory below which a million routes do not fit: some 2 GB in VPP, 1.5 GB in FRR, 0.5 GB in the kernel."""
FULL_TABLES_HEAP_MB = 1536
HOST_MB = 900
"""The memory that the agent, FRR, the web half and the kernel need in addition to VPP."""
MAX_WORKERS = 64

_BUFFER_BYTES = 2496
"""A packet buffer with its header and its share of the pool."""
_MAX_BUFFERS = 131072
_BUFFERS_OF_MEMORY = 32
"""The share of memory worth using for buffers: the mirror of each interface keeps 256 of them."""
_SPARE_PAGES = 8
"""Rings of VPP's own drivers."""
_DPDK_PAGES = 32
_DPDK_PAGES_PER_NIC = 8
"""Rings and device structures of DPDK."""

_HEAP_BYTES_PER_ROUTE = 730
"""The most for a route of either family: VPP's tables grow by half, and the old and the new table exist at
once. VPP 26.06 died between 458,752 routes (256 MB) and 1,572,864 (512 MB of IPv4, 768 MB of IPv6)."""
_STATS_BYTES_PER_ROUTE = 64
"""For each thread: two counters of 16 bytes, in tables that are doubled."""
_STATS_OF_ALL_ELSE = 0.1
_MAX_STATS_MB = 4096
"""The largest value a document may set."""

BASELINE = UNSAID
"""For a machine that is unknown or shared: a lab, a test."""
_BASELINE_FULL = StartupSettings(0, None, FULL_TABLES_HEAP_MB, 512, BASELINE.buffers_per_numa)


@dataclass(frozen=True)
class Choice:
    """For how many routes there is to be room, and why."""

    scale: RouteScale
    reason: str
    """A sentence or two."""


def choose(dataplane: Dataplane, machine: Machine | None) -> Choice:
    """The route scale: the document's, or for ``auto`` one that follows from the machine's memory alone.

    What else the document takes of the heap does not count, so that no commit restarts VPP because of it.
    """
    if dataplane.route_scale != "auto":
        return Choice(dataplane.route_scale, "The configuration sets route_scale.")
    for name in ("main_heap_mb", "stats_segment_mb"):
        if getattr(dataplane, name) is not None:
            return Choice("standard", f"The configuration sets {name}, and with it the room for routes.")
    if machine is None:
        return Choice("standard", "The size of the machine is not known.")
    has = f"The machine has {machine.memory_mb:,} MB of memory"
    if machine.memory_mb < FULL_TABLES_MB:
        return Choice("standard", f"{has}; full_tables needs {FULL_TABLES_MB:,} MB.")
    full = _wanted(dataplane, machine, "full_tables")
    if not machine.shared and _asked_mb(full, machine) > machine.memory_mb - HOST_MB:
        return Choice("standard", f"{has}, too little for full_tables beside buffers_per_numa.")
    why = f"{has}; full_tables needs {FULL_TABLES_MB:,} MB."
    if most_routes(full) < FULL_TABLE_ROUTES:
        why += f" Counters for {1 + full.workers} threads leave room for fewer than a million routes."
    return Choice("full_tables", why)


def for_machine(machine: Machine, scale: RouteScale = "standard") -> StartupSettings:
    """The size for a machine. CPU 0 is the host's; the main thread has CPU 1, workers have the others.

    Raises ValidationFailed when there is too little memory for ``full_tables``.
    """
    if machine.shared:
        return _BASELINE_FULL if scale == "full_tables" else BASELINE
    heap = _between(256, machine.memory_mb // 8 // 64 * 64, 2048)
    workers = _between(0, machine.cpus - 2, MAX_WORKERS)
    if scale == "full_tables":
        if machine.memory_mb < FULL_TABLES_MB:
            message = (
                f"full tables need {FULL_TABLES_MB} MB of memory; this machine has {machine.memory_mb} MB"
            )
            raise ValidationFailed([Problem("/dataplane/route_scale", message)])
        heap = max(heap, FULL_TABLES_HEAP_MB)
    by_memory = (machine.memory_mb // _BUFFERS_OF_MEMORY << 20) // _BUFFER_BYTES // machine.numa_nodes
    buffers = min(max(8192 * (1 + workers), by_memory // 4096 * 4096), _MAX_BUFFERS)
    stats = _stats_segment_mb(heap, workers, machine, scale)
    return StartupSettings(workers, 1 if machine.cpus > 1 else None, heap, stats, buffers)


def most_routes(settings: StartupSettings, taken_bytes: int = 0) -> int:
    """How many routes, of any mix of families, VPP has room for by its heap and its statistics.

    ``taken_bytes`` of the heap are for the rest of the document.
    """
    statistics_bytes = (settings.stats_segment_mb << 20) * (1 - _STATS_OF_ALL_ELSE)
    by_statistics = int(statistics_bytes) // (_STATS_BYTES_PER_ROUTE * (1 + settings.workers))
    return min(_by_heap(settings.main_heap_mb, taken_bytes), by_statistics)


def _by_heap(main_heap_mb: int, taken_bytes: int = 0) -> int:
    return max((main_heap_mb << 20) - ALL_ELSE_BYTES - taken_bytes, 0) // _HEAP_BYTES_PER_ROUTE


def _stats_segment_mb(main_heap_mb: int, workers: int, machine: Machine, scale: RouteScale) -> int:
    """Counters for as many routes as the heap has room for, up to a twelfth of the machine's memory."""
    bytes_of_routes = _by_heap(main_heap_mb) * _STATS_BYTES_PER_ROUTE * (1 + workers)
    wanted = -(-int(bytes_of_routes / (1 - _STATS_OF_ALL_ELSE)) // (32 << 20)) * 32
    fewest = 64
    if scale == "full_tables":
        bytes_of_full = FULL_TABLE_ROUTES * _STATS_BYTES_PER_ROUTE * (1 + workers)
        enough = -(-int(bytes_of_full / (1 - _STATS_OF_ALL_ELSE)) // (32 << 20)) * 32
        fewest = max(512, min(enough, machine.memory_mb // 4 // 32 * 32, _MAX_STATS_MB))
    return max(fewest, min(wanted, machine.memory_mb // 12 // 32 * 32, _MAX_STATS_MB))


class Most(TypedDict):
    """The part of :class:`Capabilities` that the machine decides."""

    max_workers: int
    packet_buffers: int | None
    workers: int
    main_heap_mb: int | None
    standard_heap_mb: int | None
    full_tables_heap_mb: int | None


def most(machine: Machine | None, *, ours: bool = True) -> Most:
    """CPUs for workers; and packet buffers on each node, workers and heap where the document sets none.

    The heap is unknown if the startup file is not ``ours``.
    """
    plain = settings(Dataplane(), machine)
    standard = BASELINE if machine is None else for_machine(machine)
    return Most(
        max_workers=max((os.cpu_count() or 1) - 1, 0),
        packet_buffers=None if machine is None or machine.shared else plain.buffers_per_numa,
        workers=plain.workers,
        main_heap_mb=plain.main_heap_mb if ours else None,
        standard_heap_mb=standard.main_heap_mb if ours else None,
        # A document too large for the machine is refused elsewhere.
        full_tables_heap_mb=max(standard.main_heap_mb, FULL_TABLES_HEAP_MB) if ours else None,
    )


def settings(dataplane: Dataplane, machine: Machine | None) -> StartupSettings:
    """VPP's start settings: those of the document, else by the machine's size. None: ``BASELINE``.

    Raises ValidationFailed when the machine has less than the document asks for.
    """
    scale = choose(dataplane, machine).scale
    wanted = _wanted(dataplane, machine, scale)
    if machine is not None and not machine.shared and wanted != for_machine(machine, scale):
        # Settings that follow from the machine alone are never refused: a small machine has to come up too.
        _require_fits(wanted, machine)
    return wanted


def _wanted(dataplane: Dataplane, machine: Machine | None, scale: RouteScale) -> StartupSettings:
    if machine is None:
        base = _BASELINE_FULL if scale == "full_tables" else BASELINE
    else:
        base = for_machine(machine, scale)
    workers = base.workers if dataplane.workers is None else dataplane.workers
    heap = dataplane.main_heap_mb or base.main_heap_mb
    stats = base.stats_segment_mb
    if machine is not None and not machine.shared:
        stats = _stats_segment_mb(heap, workers, machine, scale)
    return StartupSettings(
        workers,
        base.main_core if dataplane.main_core is None else dataplane.main_core,
        heap,
        dataplane.stats_segment_mb or stats,
        dataplane.buffers_per_numa or base.buffers_per_numa,
    )


def _asked_mb(wanted: StartupSettings, machine: Machine) -> int:
    return wanted.main_heap_mb + wanted.stats_segment_mb + _buffers_mb(wanted, machine)


def _buffers_mb(wanted: StartupSettings, machine: Machine) -> int:
    return wanted.buffers_per_numa * machine.numa_nodes * _BUFFER_BYTES >> 20


def _require_fits(wanted: StartupSettings, machine: Machine) -> None:
    if wanted.main_core is not None and wanted.main_core >= machine.cpus:
        message = f"there is no CPU {wanted.main_core}; this machine has {machine.cpus}"
        raise ValidationFailed([Problem("/dataplane/main_core", message)])
    if wanted.workers > (most := machine.cpus - 1):
        message = f"there are CPUs for at most {most} workers beside the main thread"
        raise ValidationFailed([Problem("/dataplane/workers", message)])
    asked_mb = _asked_mb(wanted, machine)
    room_mb = machine.memory_mb - HOST_MB
    if asked_mb > room_mb:
        parts = {
            "main_heap_mb": wanted.main_heap_mb,
            "stats_segment_mb": wanted.stats_segment_mb,
            "buffers_per_numa": _buffers_mb(wanted, machine),
        }
        message = (
            f"VPP would need {asked_mb} MB (heap, statistics and buffers together); beside the rest of the "
            f"system this machine has {max(room_mb, 0)} MB for it"
        )
        raise ValidationFailed([Problem(f"/dataplane/{max(parts, key=lambda name: parts[name])}", message)])


def hugepages(wanted: StartupSettings, machine: Machine, dpdk_nics: int = 0) -> int:
    """Huge pages of 2 MB to reserve at boot, while memory is not yet fragmented."""
    per_node = -(-wanted.buffers_per_numa * _BUFFER_BYTES // (HUGEPAGE_MB << 20)) + 1
    dpdk = _DPDK_PAGES + _DPDK_PAGES_PER_NIC * dpdk_nics if dpdk_nics else 0
    return per_node * machine.numa_nodes + _SPARE_PAGES + dpdk


def _between(low: int, value: int, high: int) -> int:
    return max(low, min(value, high))
