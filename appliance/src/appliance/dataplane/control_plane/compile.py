"""From the document to what the router lets in for itself. Pure."""

from __future__ import annotations

from typing import Any

from appliance.config.document import RouterConfig
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.features.registry import declared


def compile_control_plane(config: RouterConfig) -> ControlPlane:
    """What the features open, and where packets are looked at."""
    fields: dict[str, Any] = {}
    for opens in declared("control_plane", "opens"):
        fields.update(opens(config))
    return ControlPlane(**fields)
