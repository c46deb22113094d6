"""A line for each figure of a bench: what was measured, how often, the goal, and the machine's other load.

MILLRACE_BENCH_FIGURES names a file to which each figure is added, as a line of JSON.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

_FILE = os.environ.get("MILLRACE_BENCH_FIGURES", "")


@dataclass(frozen=True)
class Goal:
    """At most ``most`` of a figure, by its ``measure``: p50, p95, p99 or most."""

    measure: str
    most: float


def percentile(values: Sequence[float], share: int) -> float:
    """The value that ``share`` % of them do not exceed."""
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]


def told(name: str, values: Sequence[float], unit: str, goal: Goal | None = None) -> dict[str, float]:
    """Print what was measured, in ``unit``; gives it by measure."""
    found = {f"p{share}": percentile(values, share) for share in (50, 95, 99)} | {"most": max(values)}
    load = os.getloadavg()[0]
    line = ", ".join(f"{measure} {_short(value)} {unit}".rstrip() for measure, value in found.items())
    line = f"{name}: {line}, n {len(values):,}, load {load:.1f}"
    if goal is not None:
        verdict = "met" if found[goal.measure] <= goal.most else "MISSED"
        line += f"; goal {goal.measure} <= {goal.most:g} {unit}".rstrip() + f": {verdict}"
    print(line, flush=True)
    if _FILE:
        kept = {"name": name, "unit": unit, "n": len(values), "load_1_minute": load, **found}
        with Path(_FILE).open("a") as file:
            file.write(json.dumps(kept | {"goal": asdict(goal) if goal else None}) + "\n")
    return found


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"
