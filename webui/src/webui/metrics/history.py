"""Rates over the last minutes to days, in columns for a chart."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from appliance.state.counter_selection import Selection
from webui.agent import agent
from webui.metrics.models import RollUp
from webui.metrics.rates import COLUMNS, SOURCES, Rates, between
from webui.metrics.sampler import grouped

RANGES: dict[str, tuple[int, int]] = {
    "5m": (300, 1),
    "1h": (3600, 10),
    "24h": (24 * 3600, 60),
    "30d": (30 * 24 * 3600, 3600),
}
"""Name of a range to its length and step in seconds."""
_FINER = {60: 10, 3600: 60}


def history(
    name: str,
    columns: Sequence[str] = COLUMNS,
    only: frozenset[str] | None = None,
    now_s: float | None = None,
) -> dict[str, Any]:
    """``{range, step_s, time, interfaces: {name: {column: values}}}``; None where nothing is known.

    ``only`` limits it to these interfaces.

    ``time`` has evenly spaced Unix seconds. Raises KeyError for an unknown range, and AgentUnavailable for
    the last five minutes, which only the agent has.
    """
    length, step = RANGES[name]
    now = int(time.time() if now_s is None else now_s)
    times = list(range((now - length) // step * step + step, now // step * step + 1, step))
    points = _recent(times, columns, only) if step == 1 else _stored(times, step, only)
    interfaces = sorted({interface for _, interface in points})
    return {
        "range": name,
        "step_s": step,
        "time": times,
        "interfaces": {
            interface: {
                column: [_rounded(points.get((moment, interface)), column) for moment in times]
                for column in columns
            }
            for interface in interfaces
        },
    }


def _recent(
    times: list[int], columns: Sequence[str], only: frozenset[str] | None
) -> dict[tuple[int, str], Rates]:
    selection = Selection(frozenset(SOURCES[column][0] for column in columns), only)
    samples = agent().counters_history(len(times) + 2, selection)
    points: dict[tuple[int, str], Rates] = {}
    for first, last in pairwise(samples):
        if float(last["time"]) - float(first["time"]) < 5:
            seconds = range(int(float(first["time"])) + 1, int(float(last["time"])) + 1)
            for interface, rates in between(first, last, columns).items():
                points.update({(moment, interface): rates for moment in seconds})
    return points


def _stored(times: list[int], step: int, only: frozenset[str] | None) -> dict[tuple[int, str], Rates]:
    rows = RollUp.objects.filter(step_s=step, time__gte=times[0], time__lte=times[-1])
    if only is not None:
        rows = rows.filter(interface__in=only)
    points = {
        (int(row["time"]), str(row["interface"])): {name: row[name] for name in COLUMNS}
        for row in rows.values("time", "interface", *COLUMNS)
    }
    if finer := _FINER.get(step):
        # The data that is not rolled up yet, including the bucket in progress.
        since = max((moment for moment, _ in points), default=times[0] - step) + step
        points = {**grouped(step, finer, since, times[-1] + step, only), **points}
    return points


def _rounded(rates: Rates | None, column: str) -> float | None:
    return None if rates is None else round(rates[column], 1)
