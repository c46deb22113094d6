"""Clearing ARP and IPv6 neighbor entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from appliance.actions.action import Action, Done
from appliance.errors import NotFound
from appliance.state.part import Question
from frr_config.types import Address, InterfaceName

if TYPE_CHECKING:
    from appliance.agent.router import Router


class ClearNeighbors(Question):
    """Which entries are cleared: those of an interface, an address or both, or all."""

    interface: InterfaceName | None = Field(None, description="Only entries on this interface.")
    address: Address | None = Field(None, description="Only entries of this address.")
    all: bool = Field(False, description="Every learned entry; nothing else may be given then.")

    @model_validator(mode="after")
    def _all_or_some(self) -> Self:
        if self.all == (self.interface is not None or self.address is not None):
            raise PydanticCustomError("some", "give either all, or an interface or an address")
        return self


def _target(asked: ClearNeighbors) -> str:
    return " ".join(filter(None, (asked.interface, asked.address))) or "all"


def _act(router: Router, asked: ClearNeighbors, _author: str) -> Done:
    forgotten = router.dataplane.forget_neighbors(asked.interface, asked.address)
    if not forgotten:
        raise NotFound("no learned entry matches" if not asked.all else "no entry was learned")
    number = "1 entry" if forgotten == 1 else f"{forgotten:,} entries"
    then = "packets to them resolve them again"
    return Done(done=(f"{number} of ARP and IPv6 neighbors cleared: {then}",))


def _words(words: list[str]) -> Mapping[str, Any] | None:
    match words:
        case ["neighbors", "all"]:
            return {"all": True}
        case ["neighbors", "interface" | "address" as what, name]:
            return {what: name}
        case ["neighbors", "interface", interface, "address", address]:
            return {"interface": interface, "address": address}
    return None


CLEAR_NEIGHBORS = Action(
    "clear-neighbors",
    "Forget ARP and IPv6 neighbor entries: one, those of an interface, or all.",
    ClearNeighbors,
    _act,
    _words,
    "neighbors all|interface NAME [address ADDRESS]|address ADDRESS",
    _target,
)
