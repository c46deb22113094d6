"""The data plane's own settings."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context
from appliance.config.vpp_heap import ALL_ELSE_BYTES, MIB, heap_uses, taken_bytes
from appliance.errors import Problem
from appliance.features.dataplane.model import Dataplane

MIRROR_BUFFERS = 256
"""The buffers that the receive ring of a mirror occupies: its size is fixed in VPP's plugin linux_cp."""
SPARE_BUFFERS = 4096
"""For the rings of NICs, the threads' caches, and packets in flight."""
_HEAP_STEP_MB = 64


def check(context: Context) -> Iterator[Problem]:
    """The requested data plane is the running one, and supports what the document asks for."""
    dataplane, can = context.config.dataplane, context.capabilities
    if dataplane.driver is not None and dataplane.driver != can.driver:
        yield Problem(
            "/dataplane/driver", f"this router runs the {can.driver} data plane, not {dataplane.driver}"
        )
    if can.driver == "linux":
        for name, field in Dataplane.model_fields.items():
            if name != "driver" and getattr(dataplane, name) != field.default:
                yield Problem(f"/dataplane/{name}", "is a setting of VPP; this router's data plane is linux")
        return
    if dataplane.workers is not None and dataplane.workers > can.max_workers:
        yield Problem(
            "/dataplane/workers",
            f"there are CPUs for at most {can.max_workers} workers beside the main thread",
        )
    yield from _too_few_buffers(context)
    yield from _too_little_heap(context)


def _too_few_buffers(context: Context) -> Iterator[Problem]:
    """Without free buffers VPP takes no packet from any NIC, and spins on the mirrors that it cannot fill."""
    config = context.config
    buffers = config.dataplane.buffers_per_numa or context.capabilities.packet_buffers
    if buffers is None:
        return
    parts = {part for one in config.interfaces.values() for part in one.made_of}
    mirrors = sum(name not in parts and one.carrier is None for name, one in config.interfaces.items())
    wanted = mirrors * MIRROR_BUFFERS + SPARE_BUFFERS
    if wanted > buffers:
        room = max(buffers - SPARE_BUFFERS, 0) // MIRROR_BUFFERS
        yield Problem(
            "/dataplane/buffers_per_numa",
            f"{buffers} packet buffers are enough for {room} interfaces, VLANs not counted; the "
            f"configuration has {mirrors}. Set {wanted} or more, which restarts VPP",
        )


def _too_little_heap(context: Context) -> Iterator[Problem]:
    """VPP ends when its heap is full. Routes are not counted: the feeder gives VPP only those with room."""
    dataplane, can = context.config.dataplane, context.capabilities
    scale = dataplane.route_scale
    if scale == "auto":
        by_scale = can.main_heap_mb if dataplane.stats_segment_mb is None else can.standard_heap_mb
    else:
        by_scale = can.full_tables_heap_mb if scale == "full_tables" else can.standard_heap_mb
    heap_mb = by_scale if dataplane.main_heap_mb is None else dataplane.main_heap_mb
    if heap_mb is None:
        return
    uses = heap_uses(context.config, can.workers if dataplane.workers is None else dataplane.workers)
    needed_mb = -(-(ALL_ELSE_BYTES + taken_bytes(uses)) // MIB)
    if needed_mb > heap_mb:
        enough_mb = -(-needed_mb // _HEAP_STEP_MB) * _HEAP_STEP_MB
        largest = max(uses, key=lambda use: use.size_bytes)
        yield Problem(
            "/dataplane/main_heap_mb",
            f"VPP's main heap has {heap_mb:,} MB, and the configuration needs {needed_mb:,} MB without any"
            f" route, most of it for {largest.what}. Set {enough_mb} or more, which restarts VPP",
        )
