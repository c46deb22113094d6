"""Which static routes FRR uses, and why it does not use the others. Pure except for the reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.config.vrf_view import pointer_in, views
from appliance.liveness.declaration import Liveness
from appliance.liveness.rota import Rota
from appliance.routing.rows import RibRow
from appliance.state.object_state import ObjectPart, ObjectState, Standing
from frr_config.protocols.static.model import NextHop, StaticRoute
from frr_config.types import DEFAULT_VRF

if TYPE_CHECKING:
    from appliance.agent.router import Router

_Key = tuple[str, str]
"""VRF and prefix."""
Seen = Mapping[_Key, tuple[StaticRoute, ObjectState]]
_STATIC = "static"
_PLACE = frozenset({"address", "interface", "vrf", "distance"})


def _routes(config: RouterConfig) -> dict[_Key, StaticRoute]:
    return {
        (vrf, prefix): route for vrf, seen in views(config) for prefix, route in seen.routing.static.items()
    }


def _read(router: Router, rota: Rota[_Key, tuple[StaticRoute, ObjectState]], config: RouterConfig) -> Seen:
    """One question to zebra for each prefix, whose cost does not depend on the size of its table."""
    routes = _routes(config)

    def ask(keys: Sequence[_Key]) -> Iterator[tuple[StaticRoute, ObjectState]]:
        for vrf, prefix in keys:
            route = routes[vrf, prefix]
            yield route, state_of(vrf, prefix, route, router.routing.in_vrf(vrf).rib_entry(prefix))

    groups = {key: (key[0], route.next_hops) for key, route in routes.items()}
    return dict(rota.look(groups, ask))


def _judge(config: RouterConfig, seen: Seen) -> Iterator[ObjectState]:
    for (vrf, prefix), route in _routes(config).items():
        known = seen.get((vrf, prefix))
        if known is not None and known[0] == route:
            yield known[1]
        else:
            yield _object(vrf, prefix, "unknown", "it was not looked up yet", ())


def _object(vrf: str, prefix: str, state: Standing, why: str, parts: tuple[ObjectPart, ...]) -> ObjectState:
    return ObjectState(
        pointer=pointer_in(vrf, join(["routing", "static", prefix])),
        noun="static route",
        name=prefix,
        vrf=vrf or None,
        state=state,
        why=why,
        parts=parts,
    )


def state_of(vrf: str, prefix: str, route: StaticRoute, rows: Sequence[RibRow]) -> ObjectState:
    """The state of a route and of its next hops, by zebra's entries of its prefix."""
    used = next((row for row in rows if row.selected), None)
    own = [row for row in rows if row.protocol == _STATIC]
    if route.blackhole:
        part = _installed("blackhole", own[0], used) if own else _missing("blackhole", "FRR lacks the route")
        return _object(vrf, prefix, part.state, part.why, ())
    parts = tuple(_hop(hop, own, used) for hop in route.next_hops)
    states = {part.state for part in parts}
    state: Standing
    if "working" in states:
        state = "partly" if "inactive" in states else "working"
    else:
        state = "standby" if "standby" in states else "inactive"
    said = "inactive" if state == "partly" else state
    why = "; ".join(dict.fromkeys(part.why for part in parts if part.state == said and part.why))
    return _object(vrf, prefix, state, why, parts)


def _hop(hop: NextHop, own: Sequence[RibRow], used: RibRow | None) -> ObjectPart:
    leaks = (
        "" if hop.vrf is None else f" in VRF {hop.vrf}" if hop.vrf != DEFAULT_VRF else " in the default VRF"
    )
    name = " on ".join(filter(None, (hop.address, hop.interface))) + leaks
    for row in own:
        for seen in row.next_hops:
            address = None if seen.address is None else str(ip_address(seen.address))
            if address != hop.address or hop.interface not in (None, seen.interface):
                continue
            if not seen.active:
                return _missing(name, _unresolved(hop))
            if any(one.blackhole for one in row.next_hops):
                return _missing(name, f"the route to {hop.address} drops packets")
            return _installed(name, row, used)
    return _missing(name, _unresolved(hop))


def _installed(name: str, row: RibRow, used: RibRow | None) -> ObjectPart:
    if row.selected:
        if row.installed:
            return ObjectPart(name=name, state="working")
        return _missing(name, f"the kernel does not take the route by {name}")
    if used is None:
        return _missing(name, f"FRR does not use the route by {name}")
    protocol = "a static" if used.protocol == _STATIC else f"the {used.protocol}"
    why = f"{protocol} route of the same prefix is preferred, of distance {used.distance}"
    return ObjectPart(name=name, state="standby", why=why)


def _missing(name: str, why: str) -> ObjectPart:
    return ObjectPart(name=name, state="inactive", why=why)


def _unresolved(hop: NextHop) -> str:
    """FRR leaves out what it cannot resolve, and what a protocol watches in vain, without saying which."""
    if hop.interface is not None:
        why = f"{hop.interface} is down or has no link"
    else:
        why = f"no route leads to {hop.address}"
        if hop.vrf is not None and hop.vrf != DEFAULT_VRF:
            why += f" in VRF {hop.vrf}"
    watched = [
        f"{field.title} {value}"
        for name, field in NextHop.model_fields.items()
        if name not in _PLACE and (value := getattr(hop, name)) != field.default
    ]
    return f"{why}, or {hop.address} does not answer ({watched[0]})" if watched else why


def _concerns(config: RouterConfig) -> bool:
    return any(seen.routing.static for _, seen in views(config))


LIVENESS: tuple[Liveness[Any], ...] = (
    Liveness(
        "static_route",
        "static routes",
        "Correct the next hop, or look why nothing leads to it: the page Routes shows which route its address"
        " takes. Packets take a shorter route meanwhile, or are dropped.",
        _read,
        _judge,
        _concerns,
    ),
)
