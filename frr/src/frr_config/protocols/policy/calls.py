"""The order of route maps' rules: a route map is created before its callers, and removed after them."""

from __future__ import annotations

from typing import Any

from frr_config.line import Holders
from frr_config.natural import natural
from frr_config.syntax import ObjectKey, Ranker


def call_order(before: Holders, after: Holders) -> Ranker:
    """Ranks of rules in a plan from ``before`` to ``after``."""
    kept = {_map_of(line.text) for line in after if not line.context and line.text.startswith("route-map ")}
    depths_before, depths_after = _call_depths(before), _call_depths(after)

    def rank(key: ObjectKey, removed: bool) -> tuple[Any, ...]:
        name, _, sequence = key.name.split()
        if removed and name not in kept:
            # Callers are removed before the maps they call.
            return (1, -depths_before.get(name, 0), natural(name), int(sequence))
        # A rule whose action changes is removed and added under the same sequence.
        return (0, depths_after.get(name, 0), natural(name), int(sequence), not removed)

    return rank


def _map_of(opener: str) -> str:
    return opener.split()[1]


def _call_depths(holders: Holders) -> dict[str, int]:
    """For each route map, the depth of its calls; calls that form a loop end where they close it."""
    calls: dict[str, set[str]] = {}
    for line in holders:
        if line.context and line.text.startswith("call ") and line.context[0].startswith("route-map "):
            calls.setdefault(_map_of(line.context[0]), set()).add(line.text.split()[1])
    depths: dict[str, int] = {}

    def depth(name: str, above: frozenset[str]) -> int:
        if name in above or name not in calls:
            return 0
        if name not in depths:
            depths[name] = 1 + max(depth(called, above | {name}) for called in calls[name])
        return depths[name]

    for name in calls:
        depth(name, frozenset())
    return depths
