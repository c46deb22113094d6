"""Random route maps without the clauses that a daemon would ignore at the places where they are used."""

from __future__ import annotations

from typing import Any

from appliance.config.capabilities import Capabilities
from appliance.config.context import Context
from appliance.config.document import RouterConfig
from appliance.config.pointer import split
from appliance.features.policy.evaluated import ignored
from frr_config.protocols.policy.model import RouteMap


def only_meant(config: RouterConfig, capabilities: Capabilities) -> RouterConfig:
    """The document without these clauses."""
    # Without one condition a rule may match routes of another family, for which its actions mean nothing.
    while problems := list(ignored(Context.of(config, capabilities))):
        maps = config.routing.policy.model_dump(mode="json", exclude_unset=True)["route_maps"]
        for problem in problems:
            _remove(maps, split(problem.pointer)[3:])
        policy = config.routing.policy.model_copy(
            update={"route_maps": {name: RouteMap.model_validate(one) for name, one in maps.items()}}
        )
        config = config.model_copy(update={"routing": config.routing.model_copy(update={"policy": policy})})
    return config


def _remove(maps: dict[str, Any], tokens: list[str]) -> None:
    name, _, sequence, part, field = tokens
    rules = maps[name]["rules"]
    clauses = rules[sequence if sequence in rules else int(sequence)][part]
    del clauses[field]
    if field == "communities":
        clauses.pop("communities_additive", None)
