"""Interfaces are guarded where packets come in; management is let in where it is opened. Pure."""

from __future__ import annotations

from typing import Any

from appliance.config.document import RouterConfig
from appliance.dataplane.control_plane.policy import Opening


def opens(config: RouterConfig) -> dict[str, Any]:
    """The interfaces that are guarded, and the services they open."""
    links = {name: one.link for name, one in config.interfaces.items() if one.link is not None}
    openings = {
        Opening(name, service, source)
        for name, link in links.items()
        for service in link.management_services
        for source in link.management_sources or ("",)
    }
    return {"interfaces": tuple(sorted(links)), "management": tuple(sorted(openings))}
