"""From the document to what the router lets in for itself. Pure."""

from __future__ import annotations

from typing import Any

from appliance.config.document import RouterConfig
from appliance.config.vrf_view import views
from appliance.dataplane.control_plane.policy import OF_INTERFACES, ControlPlane
from appliance.features.registry import declared


def compile_control_plane(config: RouterConfig) -> ControlPlane:
    """What the features open, and where packets are looked at."""
    fields: dict[str, set[Any]] = {}
    for vrf, seen in views(config):
        for opens in declared("control_plane", "opens"):
            for name, values in opens(seen).items():
                fields.setdefault(name, set()).update(values)
                if vrf and name in OF_INTERFACES and values:
                    # What comes in by an interface of a VRF is seen to come in by the VRF's device, but for
                    # link-local packets.
                    fields[name].add(vrf)
    opened: dict[str, Any] = {name: tuple(sorted(values)) for name, values in fields.items()}
    return ControlPlane(**opened)
