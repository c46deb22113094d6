"""The foretold cost of a packet under a document: in clocks, and as a share of the router's capacity.

The costs of features are those that the bench measured, scaled by the clocks of this router's own forwarding
where its counters show it under load. A nearly idle worker takes many more clocks for a packet than one under
load, so only full vectors are counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from appliance.features.registry import declared
from appliance.impact.calibration import BASE_CLOCKS, MACHINE
from appliance.impact.result import Cost

if TYPE_CHECKING:
    from appliance.config.document import RouterConfig
    from appliance.dataplane.base import DataPlane
    from vpp_config.node_counts import NodeCounts

_LEAST_PER_CALL = 64
_LEAST_PACKETS = 1_000_000
_WORTH_TELLING = 0.01


@dataclass(frozen=True)
class Paid:
    """The cost of one feature at its most expensive place. A feature's ``costs.py`` yields them."""

    what: str
    """In a sentence: ``access lists in on lan0 (1,024 rules)``."""
    clocks: Sequence[tuple[int, float]]
    """Size -> clocks a packet by the bench, in addition to forwarding alone; sizes in order."""
    size: int
    nodes: str
    """The prefixes of the names of the nodes that do it."""

    def price(self) -> float:
        """Clocks by the bench, interpolated by the logarithm of the size; beyond the last size, as there."""
        at = bisect_right([size for size, _ in self.clocks], self.size)
        if at in (0, len(self.clocks)):
            return self.clocks[max(at - 1, 0)][1]
        (low, below), (high, above) = self.clocks[at - 1], self.clocks[at]
        return below + (above - below) * log(self.size / low) / log(high / low)


@dataclass(frozen=True)
class Measured:
    """What a busy worker of this router shows: clocks a packet without features, and of each node."""

    base_clocks: float
    by_node: Mapping[str, float]


def read_clocks(plane: DataPlane) -> Measured | None:
    """None where no worker has been busy. Raises NotForwardedByVpp, BackendUnavailable."""
    from vpp_config.node_counts import node_counts

    def kernel(_kernel: object) -> Measured | None:
        raise NotForwardedByVpp

    return plane.look(vpp=lambda vpp: measured(vpp.read_stats(node_counts)), linux=kernel)


class NotForwardedByVpp(Exception):
    """The kernel forwards, and its cost was not measured."""


def measured(counts: NodeCounts) -> Measured | None:
    """The clocks of the first worker that has been busy. Pure."""
    features = tuple(start for table in declared("costs", "NODES") for start in table)
    for nodes in counts.values():
        lookup = [one for name, one in nodes.items() if name in ("ip4-lookup", "ip6-lookup")]
        packets, calls = sum(one.packets for one in lookup), sum(one.calls for one in lookup)
        if packets < _LEAST_PACKETS or packets < calls * _LEAST_PER_CALL:
            continue
        clocks = {
            name: one.clocks / packets
            for name, one in nodes.items()
            if one.packets >= one.calls * _LEAST_PER_CALL
        }
        base = sum(value for name, value in clocks.items() if not name.startswith(features))
        return Measured(base, clocks)
    return None


def paid(config: RouterConfig) -> Iterator[Paid]:
    """The clocks of all features for a packet."""
    for pays in declared("costs", "paid"):
        yield from pays(config)


def cost(before: Sequence[Paid], after: Sequence[Paid], known: Measured | None) -> Cost | None:
    """None when the difference is too small to report. Pure."""
    scale = known.base_clocks / BASE_CLOCKS if known is not None else 1.0
    base = BASE_CLOCKS * scale
    seen = _seen_to_foretold(before, known, scale) if known is not None else {}
    clocks = [
        base + sum(one.price() * scale * seen.get(one.nodes, 1.0) for one in listed)
        for listed in (before, after)
    ]
    if abs(clocks[1] / clocks[0] - 1) < _WORTH_TELLING:
        return None
    source = (
        f"measured on {MACHINE}: no worker of this router has been busy yet"
        if known is None
        else f"measured on {MACHINE}, scaled by the {base:.0f} clocks that forwarding takes here"
    )
    return Cost(
        clocks_before=round(clocks[0]),
        clocks_after=round(clocks[1]),
        capacity=round(clocks[0] / clocks[1], 3),
        features=tuple(one.what for one in after if one not in before),
        source=source,
    )


def _seen_to_foretold(before: Sequence[Paid], known: Measured, scale: float) -> dict[str, float]:
    """How much more expensive a feature is here than in the bench, by its nodes.

    Never cheaper: the packets seen may not have passed the most expensive place.
    """
    found = {}
    for nodes in {one.nodes for one in before}:
        foretold = sum(one.price() for one in before if one.nodes == nodes) * scale
        seen = sum(clocks for name, clocks in known.by_node.items() if name.startswith(nodes))
        if seen > foretold > 0:
            found[nodes] = seen / foretold
    return found
