"""From absolute counters to rates. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

COLUMNS = ("rx_bps", "tx_bps", "rx_pps", "tx_pps", "rx_drops_ps", "tx_drops_ps")
"""Bits, packets and dropped packets per second."""

SOURCES = {
    "rx_bps": ("rx_bytes", 8),
    "tx_bps": ("tx_bytes", 8),
    "rx_pps": ("rx_packets", 1),
    "tx_pps": ("tx_packets", 1),
    "rx_drops_ps": ("rx_drops", 1),
    "tx_drops_ps": ("tx_drops", 1),
}
"""The counter that a column is derived from, and a factor."""

Rates = dict[str, float]
Sample = Mapping[str, Any]


def between(first: Sample, last: Sample, columns: Sequence[str] = COLUMNS) -> dict[str, Rates]:
    """Mean rates of each interface from one sample to a later one.

    An interface that is missing from either, or whose counters decreased (the data plane restarted), is
    omitted.
    """
    seconds = float(last["time"]) - float(first["time"])
    if seconds <= 0:
        return {}
    found: dict[str, Rates] = {}
    for name, after in last["interfaces"].items():
        before = first["interfaces"].get(name)
        if before is None:
            continue
        deltas = {
            column: (float(after.get(source, 0)) - float(before.get(source, 0))) * factor / seconds
            for column, (source, factor) in ((column, SOURCES[column]) for column in columns)
        }
        if all(delta >= 0 for delta in deltas.values()):
            found[name] = deltas
    return found


def bucket(samples: Sequence[Sample], start_s: int, step_s: int) -> dict[str, Rates]:
    """Mean rates over ``[start_s, start_s + step_s]`` from samples in order of time; empty with too few."""
    tolerance_s = 1.0
    inside = [
        one for one in samples if start_s - tolerance_s <= one["time"] <= start_s + step_s + tolerance_s
    ]
    if len(inside) < 2 or inside[-1]["time"] - inside[0]["time"] < step_s / 2:
        return {}
    return between(inside[0], inside[-1])


def mean(rows: Sequence[Rates]) -> Rates:
    """Mean of each column."""
    return {column: sum(row[column] for row in rows) / len(rows) for column in COLUMNS}
