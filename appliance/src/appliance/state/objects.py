"""Objects of the document that do nothing, of all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from appliance.state.object_state import ObjectState, Standing, counted, words
from appliance.state.part import Answer, Part, Question, Table

if TYPE_CHECKING:
    from appliance.agent.router import Router

MOST = 1000
"""How many are listed."""


class ObjectsQuery(Question):
    """Which objects: those that match all that is given."""

    under: str = Field(
        "", max_length=200, description="Only those at this place of the document or below it."
    )
    state: Standing | None = Field(
        None, description="Only those in this state; else all below `under`, or all that are not working."
    )


class Objects(Answer):
    """Objects that static routes, tunnels, relays and NAT consist of, and whether they do what they say."""

    objects: tuple[ObjectState, ...]
    counts: dict[str, int] = Field({}, description="How many are in each state, listed or not.")
    left_off: int = Field(0, description=f"How many more there are: {MOST} are listed.")

    @property
    def about(self) -> str:
        """The counts in a sentence."""
        return f"{words(self.counts)}." if self.counts else ""


def _read(router: Router, question: ObjectsQuery) -> Objects:
    below = question.under.rstrip("/")
    everything = [
        one
        for one in router.liveness.everything()
        if not below or one.pointer == below or one.pointer.startswith(f"{below}/")
    ]
    found = [
        one
        for one in everything
        if (one.state == question.state if question.state else below or one.state != "working")
    ]
    return Objects(
        objects=tuple(found[:MOST]), counts=dict(counted(everything)), left_off=max(len(found) - MOST, 0)
    )


OBJECTS = Part(
    "objects",
    "Objects of the document that can be there and do nothing: static routes, tunnels, DHCP relays, pools and"
    " mappings of NAT. Lists those that do not work, those in one state, or those at one place.",
    ObjectsQuery,
    Objects,
    _read,
    table=Table(
        ("noun", "name", "vrf", "state", "why"), lambda answer: answer.objects, lambda answer: answer.about
    ),
)
