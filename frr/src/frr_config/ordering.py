"""The order of steps: what is named is there before what names it, and goes after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from frr_config.config import Line
from frr_config.layout import natural
from frr_config.objects import Kind, ObjectKey
from frr_config.ownership import Daemons
from frr_config.step import Phase

Holders = Mapping[Line, Daemons]

_WITHDRAWN: tuple[Kind, ...] = (
    "static",
    "bgp_family",
    "neighbor",
    "peer_group",
    "bgp",
    "ospf_interface",
    "ospf",
    "foreign",
)
_ANNOUNCED: tuple[Kind, ...] = (
    "prefix_list",
    "as_path_list",
    "community_list",
    "route_map_rule",
    "static",
    "bgp",
    "peer_group",
    "neighbor",
    "bgp_family",
    "ospf",
    "ospf_interface",
    "foreign",
)
_UNNAMED: tuple[Kind, ...] = ("route_map_rule", "community_list", "as_path_list", "prefix_list")
"""Policy that nothing names any more goes last of all, in this order."""


class Place(NamedTuple):
    """Where a step stands; compares in order of execution."""

    at: tuple[Any, ...]
    phase: Phase


class Order:
    """The order of changes between two configurations."""

    def __init__(self, before: Holders, after: Holders) -> None:
        self._kept_maps = {_map_of(line.text) for line in after if _is_rule(line)}
        self._depths = {"before": _call_depths(before), "after": _call_depths(after)}

    def place(self, key: ObjectKey, before: Holders, after: Holders) -> Place:
        """The place of one object's change."""
        if key.kind in _UNNAMED:
            return self._place_policy(key, removed=not after)
        if key.kind in _WITHDRAWN and (
            not after or (key.kind in ("bgp_family", "ospf") and after.items() <= before.items())
        ):
            return Place((0, _WITHDRAWN.index(key.kind), not key.root, natural(key.name)), "withdraw")
        return Place((1, _ANNOUNCED.index(key.kind), bool(key.root), natural(key.name)), "announce")

    def _place_policy(self, key: ObjectKey, *, removed: bool) -> Place:
        if key.kind != "route_map_rule":
            group = (2, _UNNAMED.index(key.kind)) if removed else (1, _ANNOUNCED.index(key.kind))
            return Place((*group, natural(key.name)), "announce")
        name, _, sequence = key.name.split()
        if removed and name not in self._kept_maps:
            # Callers go before what they call.
            depth = -self._depths["before"].get(name, 0)
            return Place((2, 0, depth, natural(name), int(sequence)), "announce")
        depth = self._depths["after"].get(name, 0)
        # A rule whose action changes is removed and added under the same sequence.
        return Place((1, 3, depth, natural(name), int(sequence), not removed), "announce")


def _is_rule(line: Line) -> bool:
    return not line.context and line.text.startswith("route-map ")


def _map_of(opener: str) -> str:
    return opener.split()[1]


def _call_depths(holders: Holders) -> dict[str, int]:
    """For each route map, how many calls deep it goes; calls that make a loop end where they close it."""
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
