"""OSPF is let in where it speaks. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.ip_protocols import PROTOCOLS
from appliance.config.services import Only, OpenLink, Protocols, Service

SERVICES = (Service("ospf", "OSPF", (Protocols((PROTOCOLS["ospf"],), "ipv4"),), links=(Only(),)),)


def opens(config: RouterConfig) -> Iterator[OpenLink]:
    """The interfaces on which it is not passive."""
    ospf = config.routing.ospf
    for name, settings in () if ospf is None else ospf.interfaces.items():
        interface = config.interfaces.get(name)
        if not settings.passive and interface is not None and interface.link is not None:
            yield OpenLink("ospf", name)
