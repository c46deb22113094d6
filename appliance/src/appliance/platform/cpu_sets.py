"""Keeping the host's services and interrupts off the forwarding CPUs."""

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
INTERRUPTS = Path("/proc/irq")


def _left(cpus: int, forwarding: frozenset[int]) -> list[int]:
    """The CPUs that do not forward; all CPUs if there would be none."""
    return [cpu for cpu in range(cpus) if cpu not in forwarding] or list(range(cpus))


def allowed(cpus: int, forwarding: frozenset[int]) -> str:
    """CPUs left to the host, as systemd's ``AllowedCPUs=`` takes them; empty means all. Pure."""
    return " ".join(map(str, _left(cpus, forwarding))) if forwarding else ""


def keep_off(cpus: int, forwarding: frozenset[int], units: Iterable[str] = HOST_UNITS) -> None:
    """Let the host's units run on the other CPUs only, until the next boot. Raises ProgramFailed."""
    value = allowed(cpus, forwarding)
    for unit in units:
        run(["systemctl", "set-property", "--runtime", "--", unit, f"AllowedCPUs={value}"])


def steer_interrupts(cpus: int, forwarding: frozenset[int], interrupts: Path = INTERRUPTS) -> list[int]:
    """Have the other CPUs serve interrupts, also those of later devices; all CPUs if none forwards.

    Returns the interrupts that stay where they are: those of a queue that the kernel has bound to its CPU,
    and those that exist on each CPU. Raises OSError if the kernel allows no choice.
    """
    left = _left(cpus, forwarding)
    (interrupts / "default_smp_affinity").write_text(mask(left))
    stay = []
    for directory in interrupts.iterdir():
        if not directory.name.isdecimal():
            continue
        try:
            (directory / "smp_affinity_list").write_text(",".join(map(str, left)))
        except FileNotFoundError:
            continue  # its device went away
        except OSError:
            stay.append(int(directory.name))
    return sorted(stay)


def mask(cpus: Iterable[int]) -> str:
    """CPUs as the kernel takes a mask of them: hexadecimal, 32 bits between commas. Pure."""
    bits = sum(1 << cpu for cpu in set(cpus))
    words: list[str] = []
    while bits or not words:
        words.append(f"{bits & 0xFFFFFFFF:08x}")
        bits >>= 32
    return ",".join(reversed(words))


def share(startup_file: Path) -> None:
    """Keep the host's services and interrupts off the CPUs that VPP's startup file gives to forwarding.

    A VPP that sleeps between polls leaves them time there, if it has no workers: only its main thread sleeps.
    Raises MillraceError, OSError or ValueError.
    """
    cpus, text = machine().cpus, startup_file.read_text()
    settings = startup.read(text)
    shared = startup.naps(text) and not settings.workers
    busy = frozenset() if shared else forwarding_cpus(settings, cpus)
    log.info("forwarding CPUs: %s of %s", sorted(busy) or "none of its own", cpus)
    keep_off(cpus, busy)
    log.info("interrupts bound to their CPUs: %s", steer_interrupts(cpus, busy) or "none")
