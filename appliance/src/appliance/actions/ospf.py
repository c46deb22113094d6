"""Clearing OSPF adjacencies."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from appliance.actions.action import Action, Done
from appliance.errors import NotFound
from appliance.state.part import Question
from frr_config.types import InterfaceName

if TYPE_CHECKING:
    from appliance.agent.router import Router


class ClearOspfNeighbor(Question):
    """Which adjacencies are cleared: those with one router, or those on one interface."""

    neighbor: IPv4Address | None = Field(
        None, description="Router ID of the neighbor, in every VRF that has one with it."
    )
    interface: InterfaceName | None = Field(None, description="Name of the interface.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.neighbor is None) == (self.interface is None):
            raise PydanticCustomError("one", "give either neighbor or interface")
        return self


def _act(router: Router, asked: ClearOspfNeighbor, _author: str) -> Done:
    from appliance.config.vrf_view import views
    from frr_config.protocols.ospf.clearing import clear_interface, clear_neighbor

    running = [
        (vrf, config.routing.ospf)
        for vrf, config in views(router.engine.running_config)
        if config.routing.ospf is not None
    ]
    if not running:
        raise NotFound("OSPF is not configured")
    if asked.interface is not None:
        for vrf, ospf in running:
            if asked.interface in ospf.interfaces:
                router.routing.operate(clear_interface(asked.interface, vrf))
                return Done(done=(f"OSPF on {asked.interface}: cleared, its adjacencies are set up again",))
        raise NotFound(f"OSPF does not run on an interface {asked.interface}")
    # Routers in several VRFs may have the same router ID, and ospfd clears it in all.
    there = [vrf for vrf, _ in running if _has(router, vrf, str(asked.neighbor))]
    if not there:
        raise NotFound(f"there is no OSPF neighbor {asked.neighbor}")
    router.routing.operate(clear_neighbor(str(asked.neighbor)))
    return Done(
        done=tuple(
            f"OSPF neighbor {asked.neighbor}{f' in VRF {vrf}' if vrf else ''}: cleared, the adjacency is set "
            "up again"
            for vrf in there
        )
    )


def _has(router: Router, vrf: str, router_id: str) -> bool:
    return any(row.router_id == router_id for row in router.routing.in_vrf(vrf).ospf_state().neighbors)


def _words(words: list[str]) -> Mapping[str, Any] | None:
    match words:
        case ["ospf", "neighbor" | "interface" as what, name]:
            return {what: name}
    return None


CLEAR_OSPF_NEIGHBOR = Action(
    "clear-ospf-neighbor",
    "Forget OSPF neighbors and set their adjacencies up again.",
    ClearOspfNeighbor,
    _act,
    _words,
    "ospf neighbor ROUTER-ID|interface NAME",
    lambda asked: str(asked.neighbor or asked.interface),
)
