"""The data plane's own settings."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context
from appliance.errors import Problem
from appliance.features.dataplane.model import Dataplane

MIRROR_BUFFERS = 256
"""What the receive ring of a mirror holds for itself: its size is fixed in VPP's plugin linux_cp."""
SPARE_BUFFERS = 4096
"""For the rings of NICs, the threads' caches, and packets that are on their way."""


def check(context: Context) -> Iterator[Problem]:
    """The data plane asked for is the one that runs, and can do what is asked."""
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


def _too_few_buffers(context: Context) -> Iterator[Problem]:
    """Out of buffers VPP takes no packet from any NIC, and spins on the mirrors that it cannot fill."""
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
