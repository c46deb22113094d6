"""The conditions during a stretch of traffic: the CPU time of each process, the drops of VPP's graph, and
how long threads that were ready to run waited for a CPU. The latter is no fault of any router.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.bench.throughput.routers import VppRouter
from tests.bench.throughput.urgency import threads

_ERROR = re.compile(r"^\s*(\d+)\s+(\S+)\s+(.+?)\s+(?:error|warn|info)\s*$", re.MULTILINE)


def keep_on(cpu: int, pids: Iterable[int]) -> None:
    """All threads of these processes run only on this CPU, as an appliance's do next to VPP's workers."""
    for pid in pids:
        for thread in threads(pid):
            os.sched_setaffinity(thread, {cpu})


def _worked_and_waited_s(thread: int, pid: int) -> tuple[float, float]:
    worked, waited, _ = Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()
    return int(worked) / 1e9, int(waited) / 1e9


@dataclass(frozen=True)
class Readings:
    """Counters at one moment, all of them since the beginning."""

    cpu_s: Mapping[str, float]
    worker_waited_s: float
    main_waited_s: float
    drops: Mapping[str, int]

    def since(self, earlier: Readings) -> Readings:
        """The increase since."""
        return Readings(
            {name: value - earlier.cpu_s[name] for name, value in self.cpu_s.items()},
            self.worker_waited_s - earlier.worker_waited_s,
            self.main_waited_s - earlier.main_waited_s,
            {
                name: count - earlier.drops.get(name, 0)
                for name, count in self.drops.items()
                if count != earlier.drops.get(name, 0)
            },
        )


def read(router: VppRouter, pids: Mapping[str, int]) -> Readings:
    """Now. ``pids`` are processes besides VPP."""
    vpp = router.vpp.pid
    (worker,) = threads(vpp, "vpp_wk")
    worker_s, worker_waited_s = _worked_and_waited_s(worker, vpp)
    main_s, main_waited_s = _worked_and_waited_s(vpp, vpp)  # other threads have this name, too
    cpu_s = {"VPP's main thread": main_s, "VPP's worker": worker_s}
    for name, pid in pids.items():
        cpu_s[name] = sum(_worked_and_waited_s(thread, pid)[0] for thread in threads(pid))
    drops: dict[str, int] = {}
    for count, node, reason in _ERROR.findall(router.cli("show errors")):
        drops[f"{node}: {reason}"] = drops.get(f"{node}: {reason}", 0) + int(count)
    return Readings(cpu_s, worker_waited_s, main_waited_s, drops)
