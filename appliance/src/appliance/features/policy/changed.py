"""Which policy objects, including those they name, differ after a change. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.impact.change import Change
from frr_config.protocols.policy.model import Policy, RouteMap


class ChangedPolicy:
    """Each object is compared once."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._before, self._after = change.before.routing.policy, change.after.routing.policy
        self._maps: dict[str, bool] = {}

    def prefix_list(self, name: str) -> bool:
        """Whether a prefix list differs."""
        return _differ(self._before.prefix_lists, self._after.prefix_lists, name)

    def route_map(self, name: str) -> bool:
        """Whether a route map, or an object it names or calls, differs."""
        if name not in self._maps:
            self._maps[name] = False
            maps = self._before.route_maps.get(name), self._after.route_maps.get(name)
            self._maps[name] = maps[0] != maps[1] or (maps[1] is not None and self._names_changed(maps[1]))
        return self._maps[name]

    def of_filter(self, what: str, was: str | None, now: str | None) -> str:
        """What is new in the route map for something, as a part of a sentence; empty if nothing is."""
        if was != now:
            return f"{what}: route map {was} is gone" if now is None else f"{what}: route map {now} is new"
        return f"{what}: route map {now} changes" if now is not None and self.route_map(now) else ""

    def _names_changed(self, route_map: RouteMap) -> bool:
        for rule in route_map.rules.values():
            self._change.in_time()
            match = rule.match
            named: tuple[tuple[str, str | None], ...] = (
                ("prefix_lists", match.prefix_list),
                ("prefix_lists", match.ipv6_prefix_list),
                ("as_path_lists", match.as_path_list),
                ("community_lists", match.community_list),
            )
            if any(name is not None and self._other(kind, name) for kind, name in named):
                return True
            if rule.call is not None and self.route_map(rule.call):
                return True
        return False

    def _other(self, kind: str, name: str) -> bool:
        return _differ(_of(self._before, kind), _of(self._after, kind), name)


def _of(policy: Policy, kind: str) -> Mapping[str, Any]:
    objects: Mapping[str, Any] = getattr(policy, kind)
    return objects


def _differ(before: Mapping[str, object], after: Mapping[str, object], name: str) -> bool:
    return before.get(name) != after.get(name)
