"""The cost of features as measured by the bench, for their ``costs.py``; prints the tables of a run::

python -m tests.bench.throughput.calibrate docs/performance.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from appliance.features.registry import merged
from tests.bench.throughput.report import clocks_a_packet

_GROUPS = {"acl": "acl", "nat": "nat"}
"""Feature -> group of scenarios."""
_LOOKUP = "ip4-lookup"
_ALONE = "fwd-v4"
_FULL = 64

Points = tuple[tuple[int, float], ...]


def base_clocks(results: Mapping[str, Any]) -> float:
    """Of forwarding alone."""
    alone = next(one for one in results["scenarios"] if one["id"] == _ALONE)
    return round(clocks_a_packet(results, alone["routers"]["millrace"]), 1)


def tables(results: Mapping[str, Any]) -> dict[str, Points]:
    """By feature: size, and the clocks a packet that the feature's own nodes took. What other nodes took is
    not compared between scenarios: it is what varies most with the rest of the machine.
    """
    nodes = _nodes(results)
    does = merged("costs", "NODES")
    found: dict[str, Points] = {}
    for feature, group in _GROUPS.items():
        own = tuple(start for start, work in does.items() if work == _WORK[feature])
        found[feature] = _rising(
            (one["size"], _clocks_of(nodes[one["id"]], own))
            for one in results["scenarios"]
            if one["group"] == group and one["size"]
        )
    routes = [one for one in results["scenarios"] if one["group"] == "fib v4"]
    least = _clocks_of(nodes[routes[0]["id"]], (_LOOKUP,))
    found["static"] = _rising(
        (one["size"], _clocks_of(nodes[one["id"]], (_LOOKUP,)) - least) for one in routes
    )
    return found


_WORK = {"acl": "access lists", "nat": "NAT"}


def _nodes(results: Mapping[str, Any]) -> dict[str, Mapping[str, Mapping[str, float]]]:
    return {one["id"]: one["routers"]["millrace"]["nodes"] for one in results["scenarios"]}


def _clocks_of(nodes: Mapping[str, Mapping[str, float]], own: tuple[str, ...]) -> float:
    """Of a packet that came in; with full vectors only, as those of a loaded worker are."""
    spent = sum(
        node["clocks"] * node["packets"]
        for name, node in nodes.items()
        if name.startswith(own) and node["packets"] >= _FULL * node["calls"]
    )
    return spent / nodes["memif-input"]["packets"]


def _rising(points: Iterable[tuple[int, float]]) -> Points:
    """More of the same is never cheaper: where it seems so, that is noise."""
    found: list[tuple[int, float]] = []
    for size, clocks in points:
        found.append((size, round(max(clocks, found[-1][1] if found else 0.0), 1)))
    return tuple(found)


if __name__ == "__main__":
    told = json.loads(Path(sys.argv[1]).read_text())
    print("BASE_CLOCKS =", base_clocks(told))
    for name, points in tables(told).items():
        print(f"{name}: CLOCKS = {points}")
