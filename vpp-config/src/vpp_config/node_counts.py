"""The work of each node of VPP's graph, by thread, read from the stats segment without disturbing VPP.

VPP writes it there every 10 seconds (``statseg { update-interval }``), as sums since its start or since
``clear runtime``. The clocks of a polling node include its empty polls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vpp_config.stats import StatsSegment

_MAIN = "vpp_main"


@dataclass(frozen=True)
class NodeCount:
    """Sums of one node on one thread; ``clocks`` are those of the processor's time stamp counter."""

    calls: int
    packets: int
    clocks: int

    def since(self, before: NodeCount) -> NodeCount:
        """The increase. The whole value where the sums were cleared in between."""
        if self.calls < before.calls or self.clocks < before.clocks:
            return self
        return NodeCount(
            self.calls - before.calls, self.packets - before.packets, self.clocks - before.clocks
        )


NodeCounts = Mapping[str, Mapping[str, NodeCount]]
"""By the thread's name, then by the node's."""


def node_counts(segment: StatsSegment) -> NodeCounts:
    """Nodes that were called, of each thread; for ``StatsSegment.read``. Empty without per-node counters."""
    names = segment.strings("/sys/node/names")
    columns = [segment.simple(f"/sys/node/{what}") for what in ("calls", "vectors", "clocks")]
    threads: dict[str, dict[str, NodeCount]] = {}
    for number, (calls, packets, clocks) in enumerate(zip(*columns, strict=False)):
        rows = zip(names, calls, packets, clocks, strict=False)
        threads[_MAIN if number == 0 else f"vpp_wk_{number - 1}"] = {
            name: NodeCount(called, passed, took) for name, called, passed, took in rows if called and name
        }
    return threads


def added(now: NodeCounts, before: NodeCounts) -> NodeCounts:
    """The increase since ``before``, for the nodes that were called in that time."""
    return {
        thread: {
            name: more
            for name, count in nodes.items()
            if (more := count.since(before.get(thread, {}).get(name, NodeCount(0, 0, 0)))).calls
        }
        for thread, nodes in now.items()
    }
