"""Keeping the host's services off the CPUs that forward."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from appliance.dataplane.vpp import startup
from appliance.dataplane.vpp.cpus import forwarding_cpus
from appliance.platform.hugepages import machine
from appliance.programs import run

log = logging.getLogger(__name__)

HOST_UNITS = ("system.slice", "user.slice", "init.scope")
"""Everything but VPP, which has a slice of its own."""


def allowed(cpus: int, forwarding: frozenset[int]) -> str:
    """CPUs left to the host, as systemd's ``AllowedCPUs=`` takes them; empty means all. Pure."""
    left = [cpu for cpu in range(cpus) if cpu not in forwarding]
    return "" if not forwarding or not left else " ".join(str(cpu) for cpu in left)


def keep_off(cpus: int, forwarding: frozenset[int], units: Iterable[str] = HOST_UNITS) -> None:
    """Let the host's units run on the other CPUs only, until the next boot. Raises ProgramFailed."""
    value = allowed(cpus, forwarding)
    for unit in units:
        run(["systemctl", "set-property", "--runtime", "--", unit, f"AllowedCPUs={value}"])


def share(startup_file: Path) -> None:
    """Keep the host's services off the CPUs that VPP's startup file gives to forwarding.

    A VPP that naps between polls leaves them time there, if it has no workers: only its main thread naps.
    Raises MillraceError, OSError or ValueError.
    """
    cpus, text = machine().cpus, startup_file.read_text()
    settings = startup.read(text)
    shared = startup.naps(text) and not settings.workers
    busy = frozenset() if shared else forwarding_cpus(settings, cpus)
    log.info("forwarding CPUs: %s of %s", sorted(busy) or "none of its own", cpus)
    keep_off(cpus, busy)
