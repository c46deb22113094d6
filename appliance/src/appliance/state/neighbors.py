"""ARP and IPv6 neighbor tables."""

from __future__ import annotations

from appliance.state.part import Answer, Everything, Part, Table


class NeighborState(Answer):
    """An entry of the ARP or IPv6 neighbor table."""

    interface: str
    address: str
    mac: str | None = None
    state: str


class Neighbors(Answer):
    """ARP and IPv6 neighbor tables."""

    neighbors: tuple[NeighborState, ...]


NEIGHBORS = Part(
    "neighbors",
    "ARP and IPv6 neighbor tables.",
    Everything,
    Neighbors,
    lambda router, _: Neighbors(neighbors=tuple(router.dataplane.neighbors())),
    table=Table(("interface", "address", "mac", "state"), lambda answer: answer.neighbors),
)
