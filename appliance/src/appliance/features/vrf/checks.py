"""VRFs: their names, tables and contents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from appliance.config.context import Context
from appliance.config.document import RouterConfig
from appliance.config.pointer import join, split
from appliance.config.references import References
from appliance.errors import Problem
from appliance.features.interface.checks import RESERVED
from appliance.features.vrf.model import table_of
from frr_config import VrfRouting
from frr_config.types import DEFAULT_VRF

_WORDS = frozenset((DEFAULT_VRF, "route-map", "local", "main", "unspec"))
"""Names that FRR and Linux use for something else."""
_OWN = tuple(VrfRouting.model_fields)


def check(context: Context) -> Iterator[Problem]:
    """Each VRF on its own, and its contents."""
    if context.config.vrfs:
        yield from _vrfs(context)
        yield from _interfaces(context.config)
        yield from _uses(context.config)


def _vrfs(context: Context) -> Iterator[Problem]:
    lacking, interfaces = context.capabilities.lacking.get("vrf"), context.config.interfaces
    of_table: dict[int, str] = {}
    for name, vrf in context.config.vrfs.items():
        path = join(["vrfs", name])
        if lacking is not None:
            yield Problem(path, lacking)
        if name in RESERVED or name in _WORDS:
            yield Problem(path, f"the name {name} is reserved")
        elif name in interfaces:
            yield Problem(path, f"there is an interface {name}, and a VRF cannot have the same name")
        table = table_of(name, vrf)
        if (other := of_table.setdefault(table, name)) != name:
            yield Problem(f"{path}/table", f"VRF {other} has table {table}: give one of them another")


def _interfaces(config: RouterConfig) -> Iterator[Problem]:
    """The router itself is managed in the default VRF alone."""
    for name, interface in config.interfaces.items():
        if interface.vrf is not None and interface.link is not None and interface.link.management_services:
            message = f"{name} is in VRF {interface.vrf}; the router can only be managed in the default VRF"
            yield Problem(join(["interfaces", name, "management_services"]), message)


def _uses(config: RouterConfig) -> Iterator[Problem]:
    """An object that names an interface must belong to the interface's VRF."""
    for use in References(config).used_by("/interfaces"):
        interface = split(use.target)[1]
        settings = config.interfaces.get(interface)
        if settings is None:
            continue
        tokens = split(use.pointer)
        expected = _vrf_at(tokens, config)
        if expected is not None and expected != (settings.vrf or ""):
            where = f"{interface} is in {_titled(settings.vrf)}, not in {_titled(expected)}"
            yield Problem(use.pointer, where)


def _vrf_at(tokens: list[str], config: RouterConfig) -> str | None:
    """The VRF that an interface named here must be in; None: any."""
    own, routing = "", cast(VrfRouting, config.routing)
    if tokens[0] == "vrfs":
        own, routing = tokens[1], config.vrfs[tokens[1]].routing
        tokens = tokens[2:]
    match tokens:
        case ["routing", "static", prefix, "next_hops", index, "interface"]:
            vrf = routing.static[prefix].next_hops[int(index)].vrf
            return own if vrf is None else ("" if vrf == DEFAULT_VRF else vrf)
        case ["routing", part, *_] if part in _OWN:
            return own
    return None


def _titled(vrf: str | None) -> str:
    return f"VRF {vrf}" if vrf else "the default VRF"
