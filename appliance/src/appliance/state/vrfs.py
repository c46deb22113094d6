"""BGP, OSPF and single routes of a VRF, as the routing daemons have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

from appliance.state.bgp import BgpState
from appliance.state.ospf import OspfState
from appliance.state.part import Answer, Part, Question
from frr_config.types import VrfName

if TYPE_CHECKING:
    from appliance.agent.router import Router


class VrfQuery(Question):
    """Which VRF."""

    vrf: VrfName


def _destination(text: str) -> str:
    from ipaddress import ip_network

    if "%" in text:
        raise ValueError("must be an address or a prefix without a zone")
    return text if "/" not in text else str(ip_network(text, strict=False))


class VrfRouteQuery(VrfQuery):
    """Which VRF and which destination: an address, for its longest match, or a prefix."""

    destination: Annotated[str, AfterValidator(_destination)]


class VrfRoute(Answer):
    """One path that zebra has for the prefix."""

    prefix: str
    protocol: str
    selected: bool
    installed: bool
    next_hops: tuple[str, ...] = ()
    """``10.0.0.2 on lan1``, with the VRF where it is another one."""


class VrfRoutes(Answer):
    """What zebra has for a destination; empty for no route."""

    routes: tuple[VrfRoute, ...] = ()


def _known(router: Router, vrf: str) -> None:
    from appliance.errors import NotFound

    if vrf not in router.engine.running_config.vrfs:
        raise NotFound(f"there is no VRF {vrf}")


def _bgp(router: Router, asked: VrfQuery) -> BgpState:
    from appliance.routing.rows import bgp_state

    _known(router, asked.vrf)
    return router.routing.ask(lambda frr: bgp_state(frr.bgp_summary(asked.vrf), frr.bgp_neighbors(asked.vrf)))


def _ospf(router: Router, asked: VrfQuery) -> OspfState:
    from appliance.routing.rows import ospf_state

    _known(router, asked.vrf)
    vrf = asked.vrf
    return router.routing.ask(
        lambda frr: ospf_state(frr.ospf_summary(vrf), frr.ospf_interfaces(vrf), frr.ospf_neighbors(vrf))
    )


def _routes(router: Router, asked: VrfRouteQuery) -> VrfRoutes:
    _known(router, asked.vrf)
    found = router.routing.ask(lambda frr: frr.rib_lookup(asked.destination, asked.vrf))
    if found is None:
        return VrfRoutes()
    return VrfRoutes(
        routes=tuple(
            VrfRoute(
                prefix=found["prefix"],
                protocol=str(path.get("protocol", "")),
                selected=bool(path.get("selected")),
                installed=bool(path.get("installed")),
                next_hops=tuple(_hop(hop, asked.vrf) for hop in path.get("nexthops") or ()),
            )
            for path in found["routes"]
        )
    )


def _hop(hop: dict[str, object], vrf: str) -> str:
    where = [str(hop[key]) for key in ("ip", "interfaceName") if hop.get(key)]
    other = hop.get("vrf")
    text = " on ".join(where) or ("unreachable" if hop.get("unreachable") else "directly connected")
    return f"{text} in VRF {other}" if other not in (None, vrf) else text


VRF_BGP = Part("vrf-bgp", "BGP sessions of a VRF.", VrfQuery, BgpState, _bgp, path="vrfs/{vrf}/bgp")
VRF_OSPF = Part(
    "vrf-ospf",
    "OSPF neighbors, areas and interfaces of a VRF.",
    VrfQuery,
    OspfState,
    _ospf,
    path="vrfs/{vrf}/ospf",
)
VRF_ROUTE = Part(
    "vrf-route",
    "The route of a VRF to a destination, as zebra has it.",
    VrfRouteQuery,
    VrfRoutes,
    _routes,
    path="vrfs/{vrf}/route",
)
