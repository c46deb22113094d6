"""Static routes, and whether FRR uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from appliance.state.object_state import ObjectState, counted, words
from appliance.state.part import Answer, OfVrf, Part, Table

if TYPE_CHECKING:
    from appliance.agent.router import Router


class StaticRoutes(Answer):
    """Every static route of a VRF."""

    routes: tuple[ObjectState, ...]
    counts: dict[str, int] = Field({}, description="How many are in each state.")

    @property
    def about(self) -> str:
        """The counts in a sentence."""
        return f"{words(self.counts)}." if self.routes else ""


def _read(router: Router, question: OfVrf) -> StaticRoutes:
    router.vrf_table(question.vrf)
    routes = tuple(one for one in router.liveness.of("static_route") if one.vrf == question.vrf)
    return StaticRoutes(routes=routes, counts=dict(counted(routes)))


STATIC_ROUTES = Part(
    "static-routes",
    "Static routes and their next hops: which of them FRR uses, and why not the others.",
    OfVrf,
    StaticRoutes,
    _read,
    table=Table(("name", "state", "why"), lambda answer: answer.routes, lambda answer: answer.about),
)
