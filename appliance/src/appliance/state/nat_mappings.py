"""Pools, 1:1 mappings and port forwards of NAT, and whether they can translate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from appliance.state.object_state import ObjectState, counted, words
from appliance.state.part import Answer, Everything, Part, Table

if TYPE_CHECKING:
    from appliance.agent.router import Router


class NatMappings(Answer):
    """All of them."""

    mappings: tuple[ObjectState, ...]
    counts: dict[str, int] = Field({}, description="How many are in each state.")

    @property
    def about(self) -> str:
        """The counts in a sentence."""
        return f"{words(self.counts)}." if self.mappings else ""

    def under(self, pointer: str) -> Mapping[str, ObjectState]:
        """Those of one mapping of the document, by name."""
        return {one.name: one for one in self.mappings if one.pointer.startswith(f"{pointer}/")}


def _read(router: Router, _: Everything) -> NatMappings:
    found = router.liveness.of("nat_mapping")
    return NatMappings(mappings=found, counts=dict(counted(found)))


NAT_MAPPINGS = Part(
    "nat-mappings",
    "Pools, 1:1 mappings and port forwards of NAT: whether a route leads to their inside hosts, and"
    " whether their outside addresses are on a network of this router.",
    Everything,
    NatMappings,
    _read,
    path="nat/mappings",
    table=Table(
        ("noun", "name", "state", "why"), lambda answer: answer.mappings, lambda answer: answer.about
    ),
)
