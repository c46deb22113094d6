"""Clearing BGP sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from appliance.actions.action import Action, Done
from appliance.errors import NotFound
from appliance.state.part import OfVrf
from frr_config.types import Address

if TYPE_CHECKING:
    from appliance.agent.router import Router


class ClearBgp(OfVrf):
    """Which sessions are cleared, and how."""

    neighbor: Literal["all"] | Address = Field(description="Address of a neighbor, or all.")
    soft: Literal["in", "out"] | None = Field(
        None,
        description="Keeps the session: in requests the neighbor's routes again, out sends this router's. "
        "Null: the session is closed and set up again.",
    )
    family: Literal["ipv4_unicast", "ipv6_unicast"] | None = Field(
        None, description="Only this address family; with soft alone."
    )

    @model_validator(mode="after")
    def _family_is_soft(self) -> Self:
        if self.family is not None and self.soft is None:
            raise PydanticCustomError(
                "family", "family needs soft: a session is set up again for all its families"
            )
        return self


def _act(router: Router, asked: ClearBgp, _author: str) -> Done:
    from appliance.config.vrf_view import seen_in
    from frr_config.protocols.bgp.clearing import clear

    routing = router.routing_in(asked.vrf)
    bgp = seen_in(router.engine.running_config, asked.vrf or "").routing.bgp
    known = () if bgp is None else tuple(bgp.neighbors)
    if not known or (asked.neighbor != "all" and asked.neighbor not in known):
        raise NotFound(f"there is no BGP neighbor {asked.neighbor if known else 'configured'}{_where(asked)}")
    one = None if asked.neighbor == "all" else asked.neighbor
    routing.operate(clear(one, asked.soft, asked.family, asked.vrf or ""))
    who = ("all BGP neighbors" if one is None else f"BGP neighbor {one}") + _where(asked)
    family = "" if asked.family is None else f" ({asked.family.replace('_', ' ')})"
    match asked.soft:
        case "in":
            said = f"{who}: asked for its routes again{family}"
        case "out":
            said = f"{who}: this router's routes are sent again{family}"
        case _:
            said = f"{who}: cleared, the session is set up again"
    return Done(done=(said,))


def _where(asked: ClearBgp) -> str:
    return f" in VRF {asked.vrf}" if asked.vrf else ""


def _words(words: list[str]) -> Mapping[str, Any] | None:
    if words[:1] != ["bgp"] or len(words) < 2:
        return None
    given: dict[str, Any] = {"neighbor": words[1]}
    rest = words[2:]
    if rest[:1] == ["vrf"]:
        given["vrf"], rest = " ".join(rest[1:2]), rest[2:]
    if rest[:1] == ["soft"]:
        given["soft"], rest = " ".join(rest[1:2]), rest[2:]
    if rest:
        given["family"] = {"ipv4": "ipv4_unicast", "ipv6": "ipv6_unicast"}.get(rest[0], rest[0])
    return None if len(rest) > 1 else given


CLEAR_BGP = Action(
    "clear-bgp",
    "Close BGP sessions and set them up again, or exchange their routes again.",
    ClearBgp,
    _act,
    _words,
    "bgp ADDRESS|all [vrf NAME] [soft in|out [ipv4|ipv6]]",
    lambda asked: " ".join(
        filter(
            None,
            (
                asked.neighbor,
                asked.vrf and f"vrf {asked.vrf}",
                asked.soft and f"soft {asked.soft}",
                asked.family,
            ),
        )
    ),
)
