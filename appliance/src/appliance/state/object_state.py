"""Whether an object of the document does what it says, and why it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from appliance.state.part import Answer

Standing = Literal["working", "partly", "standby", "inactive", "unknown"]
STANDINGS: tuple[Standing, ...] = ("inactive", "partly", "unknown", "standby", "working")
"""Those that an operator has to look at first."""
_DESCRIPTION = (
    "`working`: it does what it says; `partly`: some parts of it do; `standby`: another is preferred; "
    "`inactive`: it does nothing; `unknown`: the router cannot tell, and `why` says for what reason."
)


class ObjectPart(Answer):
    """What an object needs, such as a next hop or a server."""

    name: str
    state: Standing = Field(description=_DESCRIPTION)
    why: str = Field("", description="Why it is not working, in a sentence without a full stop.")


class ObjectState(Answer):
    """An object of the document."""

    pointer: str = Field(description="Its place in the document.")
    noun: str
    name: str
    vrf: str | None = Field(None, description="VRF whose routing it belongs to; null for the default one.")
    state: Standing = Field(description=_DESCRIPTION)
    why: str = ""
    parts: tuple[ObjectPart, ...] = ()


def worst(parts: Iterable[ObjectPart]) -> tuple[Standing, str]:
    """The state of an object whose parts are all needed, and why."""
    listed = tuple(parts)
    states: tuple[Standing, ...] = tuple(one.state for one in listed) or ("working",)
    state = min(states, key=STANDINGS.index)
    why = "; ".join(dict.fromkeys(one.why for one in listed if one.state == state and one.why))
    return state, why


def counted(objects: Iterable[ObjectState]) -> Mapping[str, int]:
    """How many are in each state; states without an object are left out."""
    found: dict[str, int] = {}
    for one in objects:
        found[one.state] = found.get(one.state, 0) + 1
    return {state: found[state] for state in STANDINGS if state in found}


def words(counts: Mapping[str, int]) -> str:
    """``2 inactive, 1 partly working, 40 working``."""
    named = {"partly": "partly working", "unknown": "not known"}
    return ", ".join(f"{count:,} {named.get(state, state)}" for state, count in counts.items())
