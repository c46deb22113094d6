"""Which CPUs forward. Pure."""

from __future__ import annotations

from appliance.dataplane.vpp.startup import StartupSettings


def forwarding_cpus(wanted: StartupSettings, cpus: int) -> frozenset[int]:
    """CPUs that forward without a pause, which the host's services therefore stay off.

    With workers those are theirs; without any, the main thread's. VPP takes for its workers the first CPUs
    that are not the main thread's, and CPU 0 last. Empty when VPP is not pinned, or nothing would be left.
    """
    if wanted.main_core is None:
        return frozenset()
    order = [cpu for cpu in (*range(1, cpus), 0) if cpu != wanted.main_core]
    busy = frozenset(order[: wanted.workers]) if wanted.workers else frozenset([wanted.main_core])
    return busy if len(busy) < cpus else frozenset()
