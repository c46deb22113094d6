"""Where OSPF evaluates route maps."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.config.route_map_use import RouteMapUse
from frr_config.protocols.policy.clauses import Place


def uses(config: RouterConfig) -> Iterator[RouteMapUse]:
    """Those of redistribution and of the default route."""
    ospf = config.routing.ospf
    if ospf is None:
        return
    at = ["routing", "ospf"]
    for protocol in type(ospf.redistribute).model_fields:
        redistributed = getattr(ospf.redistribute, protocol)
        if redistributed is not None and redistributed.route_map is not None:
            yield RouteMapUse(
                redistributed.route_map,
                join([*at, "redistribute", protocol, "route_map"]),
                f"{protocol} routes redistributed into OSPF",
                Place("ospf_redistribution", "ipv4"),
            )
    default = ospf.default_information
    if default is not None and default.route_map is not None:
        yield RouteMapUse(
            default.route_map,
            join([*at, "default_information", "route_map"]),
            "OSPF's default route",
            Place("ospf_default", "ipv4"),
        )
