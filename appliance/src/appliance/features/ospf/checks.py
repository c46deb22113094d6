"""OSPFv2."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context
from appliance.config.pointer import escape
from appliance.errors import Problem


def check_vrf(context: Context) -> Iterator[Problem]:
    """Interfaces have IPv4, and there is a router id."""
    ospf = context.config.routing.ospf
    if ospf is None:
        return
    if ospf.router_id is not None and int(ospf.router_id) == 0:
        yield Problem("/routing/ospf/router_id", "0.0.0.0 is not a router ID")
    if ospf.router_id is None and not context.has_ipv4():
        yield Problem(
            "/routing/ospf/router_id", "is required: no interface has an IPv4 address to take it from"
        )
    for name, interface in ospf.interfaces.items():
        path = f"/routing/ospf/interfaces/{escape(name)}"
        if name in context.addresses and all(known.version != 4 for known in context.addresses[name]):
            yield Problem(path, f"{name} has no IPv4 address, which OSPFv2 needs")
        settings = context.config.interfaces.get(name)
        if settings is not None and not settings.is_ethernet and interface.network_type == "broadcast":
            message = f"{name} is a link between two routers: network_type must be point-to-point"
            yield Problem(f"{path}/network_type", message)
        key = interface.authentication
        if key is not None and key.type == "simple" and "key_id" in key.model_fields_set and key.key_id != 1:
            yield Problem(f"{path}/authentication/key_id", "a simple password has no key ID: leave it out")
