"""The conditions that refuse a bench. Pure: ``look`` reads VPP, the rest judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.bench import rig
from appliance.errors import Conflict

if TYPE_CHECKING:
    from appliance.bench.scenarios import Scenario
    from appliance.dataplane.looking import VppLooking
    from vpp_config.stats import StatsSegment

MOST_PPS = 1000.0
"""Packets received and sent on one interface: with more, a bench would disturb traffic."""
LEAST_HEAP_BYTES = 64 * 1024 * 1024
"""Free of VPP's main heap; a table and two interfaces take some 2 MiB."""
LEAST_BUFFERS = 2048
"""Free of VPP's packet buffers: several full vectors in flight on each of a few threads."""
MOST_UNCOUNTED = 10_000
"""The most routes of a bench if no feeder counts those that VPP gets during it."""
LEAST_AVAILABLE_BYTES = 256 * 1024 * 1024
"""Memory of the machine that programs can still get; the generator takes 32 MiB for its rings."""
_MIB = 1024 * 1024


@dataclass(frozen=True)
class Thread:
    """A thread of VPP, and the CPU it is pinned to."""

    name: str
    cpu: int


@dataclass(frozen=True)
class Vpp:
    """The resources of VPP. ``heap_free_bytes`` and ``buffers_free`` are None if VPP does not say."""

    version: str
    threads: tuple[Thread, ...]
    heap_free_bytes: int | None
    buffers_free: int | None
    has_links: bool = True
    against: str = ""
    """Why it cannot take the scenario's load without harm."""

    @property
    def forwarding(self) -> tuple[Thread, ...]:
        """Those that forward: the workers, or without any the main thread."""
        workers = tuple(one for one in self.threads if one.name.startswith("vpp_wk"))
        return workers or tuple(one for one in self.threads if one.name.startswith("vpp_main"))

    def free_cpus(self, allowed: frozenset[int]) -> frozenset[int]:
        """The usable CPUs to which no thread of VPP is pinned."""
        return allowed - {one.cpu for one in self.threads}


def look(vpp: VppLooking, scenario: Scenario) -> Vpp:
    """Raises VppError."""
    threads = vpp.client.call("show_threads").thread_data
    heap, buffers = vpp.read_stats(_memory)
    return Vpp(
        str(vpp.client.call("show_version").version),
        tuple(Thread(str(row.name), int(row.cpu_id)) for row in threads),
        heap,
        buffers,
        rig.is_possible(vpp.client),
        "" if scenario.load is None else scenario.load.against(vpp.client),
    )


def _memory(segment: StatsSegment) -> tuple[int | None, int | None]:
    use = segment.simple("/mem/main heap")
    heap = [use[0][2]] if use and len(use[0]) >= 3 else []
    pools = [segment.scalar(name) for name in segment.names("/buffer-pools/") if name.endswith("/available")]
    return (min(heap) if heap else None), (min(pools) if pools else None)


def available_bytes(path: Path = Path("/proc/meminfo")) -> int | None:
    """Memory that programs can still get; None if the kernel does not say."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def require_room(vpp: Vpp, available: int | None) -> None:
    """Raises Conflict if VPP or the machine lacks what any bench needs."""
    if available is not None and available < LEAST_AVAILABLE_BYTES:
        raise Conflict(
            f"the machine has {available // _MIB} MiB of memory left, and a bench is refused below "
            f"{LEAST_AVAILABLE_BYTES // _MIB}: end something else, or give it more"
        )
    if not vpp.has_links:
        raise Conflict(f"this VPP runs without its plugin {rig.PLUGIN}, which a bench needs")
    if vpp.heap_free_bytes is not None and vpp.heap_free_bytes < LEAST_HEAP_BYTES:
        raise Conflict(
            f"VPP's main heap has {vpp.heap_free_bytes // _MIB} MiB left, and a bench is refused below "
            f"{LEAST_HEAP_BYTES // _MIB}: routes need it. Enlarge it under system dataplane"
        )
    if vpp.buffers_free is not None and vpp.buffers_free < LEAST_BUFFERS:
        raise Conflict(
            f"VPP has {vpp.buffers_free:,} packet buffers left, and a bench is refused below "
            f"{LEAST_BUFFERS:,}: its traffic would take those of others. Enlarge them under system dataplane"
        )


def require_load(vpp: Vpp, scenario: Scenario, counts_routes: bool) -> None:
    """Raises Conflict if the load of the packets cannot be made without harm, even if wanted anyway.

    ``counts_routes`` says whether a feeder keeps the other routes within VPP's room.
    """
    if scenario.routes() > MOST_UNCOUNTED and not counts_routes:
        raise Conflict(
            f"{scenario.routes():,} routes are too many: without the feeder nobody counts what VPP has room "
            f"for, and a bench takes {MOST_UNCOUNTED:,} at most"
        )
    if vpp.against:
        raise Conflict(vpp.against)
    needed = LEAST_HEAP_BYTES + scenario.heap_bytes(len(vpp.forwarding))
    if vpp.heap_free_bytes is not None and vpp.heap_free_bytes < needed:
        raise Conflict(
            f"VPP's main heap has {vpp.heap_free_bytes // _MIB} MiB left, and this bench is refused below "
            f"{needed // _MIB}: take a smaller size, or enlarge the heap under system dataplane"
        )


def require_cpu(vpp: Vpp, allowed: frozenset[int], anyway: bool) -> int | None:
    """The CPU for the generator alone; None: none is free, and it is wanted anyway. Raises Conflict."""
    free = vpp.free_cpus(allowed)
    if free:
        return max(free)
    if anyway:
        return None
    pinned = ", ".join(f"{one.name} on {one.cpu}" for one in vpp.threads)
    raise Conflict(
        f"no CPU is free for the packet generator: it may use {_listed(allowed)}, and VPP's threads have "
        f"{pinned}. Give VPP fewer workers or the machine another CPU; with --anyway the generator takes "
        "turns with VPP, and the rate is a lower bound"
    )


def rates(
    before: Mapping[str, Mapping[str, int]], after: Mapping[str, Mapping[str, int]], seconds: float
) -> dict[str, float]:
    """Packets a second, received and sent, of each interface between two samples of their counters."""
    found = {}
    for name, now in after.items():
        was = before.get(name)
        if was is not None:
            moved = sum(now[what] - was[what] for what in ("rx_packets", "tx_packets"))
            found[name] = max(0.0, moved / seconds)
    return found


def busy(found: Mapping[str, float]) -> dict[str, float]:
    """The interfaces with more than a little traffic, the busiest first."""
    return dict(
        sorted(
            ((name, rate) for name, rate in found.items() if rate > MOST_PPS),
            key=lambda one: one[1],
            reverse=True,
        )
    )


def require_quiet(found: Mapping[str, float], seconds: float, anyway: bool) -> bool:
    """Whether traffic passes, and it is wanted anyway. Raises Conflict."""
    loud = busy(found)
    if loud and not anyway:
        listed = ", ".join(f"{name} {rate:,.0f}" for name, rate in list(loud.items())[:5])
        more = f" and {len(loud) - 5} more" if len(loud) > 5 else ""
        raise Conflict(
            f"traffic passes, and a bench would disturb it: {listed}{more} packets a second over "
            f"{seconds:.1f} s, where up to {MOST_PPS:,.0f} on an interface are allowed. Try again when "
            "it is quiet, or with --anyway"
        )
    return bool(loud)


def _listed(cpus: frozenset[int]) -> str:
    return "CPU " + ", ".join(map(str, sorted(cpus)))
