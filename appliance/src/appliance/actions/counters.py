"""Clearing counters: their values at that time are subtracted from then on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from appliance.actions.action import Action, Done
from appliance.config.acl_name import AclName
from appliance.state.part import Question
from frr_config.types import InterfaceName

if TYPE_CHECKING:
    from appliance.agent.router import Router


class ClearCounters(Question):
    """Which counters are cleared: those of an interface, of an access list, or all."""

    interface: InterfaceName | None = Field(None, description="Counters of this interface.")
    acl: AclName | None = Field(None, description="Hits of this access list.")
    all: bool = Field(False, description="Counters of every interface and hits of every access list.")

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if (self.interface is not None) + (self.acl is not None) + self.all != 1:
            raise PydanticCustomError("one", "give an interface, an access list, or all: one of them")
        return self


def _target(asked: ClearCounters) -> str:
    if asked.acl is not None:
        return f"access list {asked.acl}"
    return "all" if asked.interface is None else f"interface {asked.interface}"


def _act(router: Router, asked: ClearCounters, author: str) -> Done:
    done = []
    if asked.acl is None:
        sample = router.dataplane.counters()
        names = [asked.interface] if asked.interface is not None else list(sample["interfaces"])
        router.cleared.clear_interfaces(names, sample["interfaces"], sample.get("origins", {}), author)
        done.append(_cleared("interface", names))
    if asked.interface is None:
        hits = router.hits.fresh()
        lists = [asked.acl] if asked.acl is not None else list(hits)
        router.cleared.clear_lists(lists, hits, author)
        if lists:
            done.append(_cleared("access list", lists))
    return Done(done=tuple(done))


def _cleared(what: str, names: list[str]) -> str:
    who = f"{what} {names[0]}" if len(names) == 1 else f"{len(names):,} {what}s"
    return f"counters of {who} cleared: they are shown from zero; metrics are not affected"


def _words(words: list[str]) -> Mapping[str, Any] | None:
    match words:
        case ["counters", "all"]:
            return {"all": True}
        case ["counters", "interface" | "acl" as what, name]:
            return {what: name}
    return None


CLEAR_COUNTERS = Action(
    "clear-counters",
    "Show counters from zero: those of an interface, the hits of an access list, or all. Metrics are not "
    "affected.",
    ClearCounters,
    _act,
    _words,
    "counters all|interface NAME|acl NAME",
    _target,
)
