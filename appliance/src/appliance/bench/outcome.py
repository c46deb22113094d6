"""From trials to a result: medians, clocks by node, the machine, and the limits of the figures."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import appliance
from appliance.bench import rig
from appliance.bench.guard import Vpp
from appliance.bench.scenarios import Scenario
from appliance.bench.search import PDR_LOSS, Measured
from appliance.bench.trials import Lengths, offered_pps, stalled
from appliance.engine.backend import BackendUnavailable
from appliance.errors import MillraceError
from appliance.state.benches import BenchResult, NodeCost

if TYPE_CHECKING:
    from appliance.dataplane.base import DataPlane
    from appliance.dataplane.looking import KernelLooking, VppLooking
    from vpp_config.node_counts import NodeCount, NodeCounts

_WRITTEN_S = 12.0
"""VPP writes its nodes' counters every 10 seconds."""
_POLL_S = 0.5
_SHARE = 0.5
_UNKNOWN = (
    "how fast its NICs are: packets come by shared memory, and a NIC's driver takes clocks of its own",
    "latency",
)
_MUCH = 0.02


class Clocks:
    """The clocks of each node of VPP, from the creation of this object on."""

    def __init__(self, dataplane: DataPlane) -> None:
        self._dataplane = dataplane
        self._before = self._read()

    def since(self, packets: int, stop: threading.Event) -> tuple[NodeCost, ...]:
        """By node, the most expensive first, once VPP has counted this many; empty if it does not in time."""
        ends = time.monotonic() + _WRITTEN_S
        while True:
            passed = self._passed(packets)
            if passed or time.monotonic() > ends or stop.wait(_POLL_S):
                return passed

    def _passed(self, packets: int) -> tuple[NodeCost, ...]:
        """Nodes that most of the packets passed. None until VPP has written all of them."""
        from vpp_config.node_counts import added

        now = self._read()
        if now is None or self._before is None:
            return ()
        totals: dict[str, tuple[int, int]] = {}
        for nodes in added(now, self._before).values():
            for name, count in nodes.items():
                named = rig.of_both_sides(name)
                of, took = totals.get(named, (0, 0))
                totals[named] = (of + count.packets, took + count.clocks)
        return costs(totals, packets)

    def _read(self) -> NodeCounts | None:
        try:
            return self._dataplane.look(vpp=_nodes, linux=_none)
        except (MillraceError, BackendUnavailable):
            return None


def costs(totals: Mapping[str, tuple[int, int]], packets: int) -> tuple[NodeCost, ...]:
    """Of packets and clocks by node, what a packet took in those nodes that most of ``packets`` passed, once
    forwarding has counted all of them; the dearest first."""
    if totals.get("ip4-lookup", (0, 0))[0] < packets:
        return ()
    found = [
        NodeCost(node=name, clocks=round(took / of, 1))
        for name, (of, took) in totals.items()
        if of >= packets * _SHARE and name != rig.RECEIVING_NODE
    ]
    return tuple(sorted(found, key=lambda one: -one.clocks))


def result(
    scenario: Scenario,
    measured: Measured,
    lengths: Lengths,
    vpp: Vpp,
    cpu: int | None,
    foreign: bool,
    clocks: tuple[NodeCost, ...],
) -> BenchResult:
    """All of it."""
    missed = stalled(measured)
    return BenchResult(
        title=scenario.title,
        frames=scenario.frames,
        offered_pps=round(offered_pps(measured)),
        mrr_pps=round(measured.mrr_pps),
        least_pps=round(min(measured.received_pps)),
        most_pps=round(max(measured.received_pps)),
        rounds=len(measured.received_pps),
        pdr_pps=None if not measured.pdr_pps else round(measured.pdr_pps),
        loss=PDR_LOSS,
        trial_s=lengths.round_s,
        clocks=clocks,
        cpu=_cpu_model(),
        cpus=os.cpu_count() or 1,
        forwarding_cpus=tuple(one.cpu for one in vpp.forwarding),
        generator_cpu=cpu,
        versions={"millrace": appliance.__version__, "vpp": vpp.version},
        stalled=round(missed, 3),
        foreign=foreign,
        unknown=_unknown(cpu, missed, scenario),
    )


def _unknown(cpu: int | None, missed: float, scenario: Scenario) -> tuple[str, ...]:
    """The limits of the figures, the most important first."""
    told = []
    if cpu is None:
        told.append("its highest rate: the generator took turns with VPP's threads, so this is a lower bound")
    if missed > _MUCH:
        told.append(
            f"its rate while nothing else runs: other processes kept the generator off its CPU for "
            f"{missed:.0%} of the time at overload, and perhaps VPP too, so this is a lower bound"
        )
    told.append("its rate without a generator beside it, which shares caches and memory with VPP")
    told.append(
        f"what the router's own routes and features cost: {scenario.passes} (the plan of a commit foretells "
        "costs)"
    )
    return (*told, *_UNKNOWN)


def _cpu_model(path: Path = Path("/proc/cpuinfo")) -> str:
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _nodes(vpp: VppLooking) -> Mapping[str, Mapping[str, NodeCount]]:
    from vpp_config.node_counts import node_counts

    return vpp.read_stats(node_counts)


def _none(_kernel: KernelLooking) -> None:
    return None
