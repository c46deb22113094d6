"""Which CPUs forward. Pure."""

from __future__ import annotations

from appliance.dataplane.vpp.startup import StartupSettings


def forwarding_cpus(wanted: StartupSettings, cpus: int) -> frozenset[int]:
    """CPUs that poll without pause, and that the host's services therefore avoid.

    With workers these are the workers' CPUs; without any, the main thread's. VPP takes for its workers the
    first CPUs that are not the main thread's, and CPU 0 last. Empty when VPP is not pinned, or nothing would
    be left.
    """
    if wanted.main_core is None:
        return frozenset()
    order = [cpu for cpu in (*range(1, cpus), 0) if cpu != wanted.main_core]
    busy = frozenset(order[: wanted.workers]) if wanted.workers else frozenset([wanted.main_core])
    return busy if len(busy) < cpus else frozenset()
