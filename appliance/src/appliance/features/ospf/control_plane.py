"""OSPF is let in where it speaks. Pure."""

from __future__ import annotations

from typing import Any

from appliance.config.document import RouterConfig


def opens(config: RouterConfig) -> dict[str, Any]:
    """The interfaces on which it is not passive."""
    ospf = config.routing.ospf
    if ospf is None:
        return {}
    speaking = (name for name, one in ospf.interfaces.items() if not one.passive)
    guarded = {name for name, one in config.interfaces.items() if one.link is not None}
    return {"ospf": tuple(sorted(name for name in speaking if name in guarded))}
