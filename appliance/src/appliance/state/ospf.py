"""OSPF neighbors, interfaces and areas."""

from __future__ import annotations

from pydantic import Field

from appliance.state.part import Answer, Number, OfVrf, Part


class OspfAreaState(Answer):
    """One area."""

    interfaces: int | None = None
    neighbors: int | None = Field(None, description="Fully adjacent.")
    lsas: int | None = None


class OspfInterfaceState(Answer):
    """An interface that OSPF runs on."""

    area: str | None = None
    state: str | None = None
    type: str | None = None
    cost: int | None = None
    up: bool = False
    neighbors: int | None = None
    neighbors_full: int | None = None


class OspfNeighborState(Answer):
    """An OSPF neighbor on one interface."""

    router_id: str
    address: str | None = None
    interface: str = ""
    state: str = Field("", description="Such as Full/DR.")
    full: bool = False
    dead_in_ms: Number | None = None
    priority: int | None = None
    uptime_ms: Number | None = None


class OspfState(Answer):
    """The OSPF instance."""

    router_id: str | None = None
    areas: dict[str, OspfAreaState] = {}
    interfaces: dict[str, OspfInterfaceState] = {}
    neighbors: tuple[OspfNeighborState, ...] = ()


OSPF = Part(
    "ospf",
    "OSPF neighbors, areas and interfaces.",
    OfVrf,
    OspfState,
    lambda router, question: router.routing_in(question.vrf).ospf_state(),
)
