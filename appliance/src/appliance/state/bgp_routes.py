"""Routes that a BGP neighbor sent, or is sent, and what the policy says of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from appliance.state.bgp import BgpNeighborQuery
from appliance.state.part import Answer, Number, Part
from appliance.state.routes import Destination, of_one_prefix, of_the_prefix

if TYPE_CHECKING:
    from appliance.agent.router import Router

Direction = Literal["received", "advertised"]
Community = Annotated[str, StringConstraints(pattern=r"^([0-9]{1,10}(:[0-9]{1,10}){1,2}|[a-zA-Z-]{3,20})$")]


class BgpRoutesQuery(BgpNeighborQuery):
    """Which routes of which neighbor."""

    direction: Direction
    prefix: Destination | None = Field(
        None, description="An address, for the longest prefix that has it, or a prefix, for its own route."
    )
    longest: bool = Field(False, description="Of a prefix: the longest that has its first address.")
    within: bool = Field(False, description="Of a prefix: the list of it and longer ones inside it.")
    family: Literal["ipv4", "ipv6"] = Field(
        "ipv4", description="Of this address family; a prefix has its own."
    )
    community: Community | None = Field(
        None, description="Only with this community, standard or large, such as 65001:100."
    )
    asn: int | None = Field(None, ge=0, le=4294967295, description="Only with this AS number in the AS path.")
    offset: int = Field(0, ge=0, le=1_000_000, description="Number to skip from the start.")
    limit: int = Field(50, ge=1, le=200, description="Routes in one page.")

    _which = field_validator("longest", "within")(of_one_prefix)
    _family = field_validator("family")(of_the_prefix)

    @property
    def is_list(self) -> bool:
        """Whether the question is for many routes."""
        return self.prefix is None or self.within


class PolicyVerdict(Answer):
    """What the policy, as it is configured now, says of a route."""

    verdict: Literal["permit", "deny", "unknown"]
    rule: str = Field("", description="The rule that decides; several where what is known fits several.")
    changes: tuple[str, ...] = Field((), description="What the rule sets, in words.")
    depends_on: str = Field("", description="What decides and is not known; empty where all is known.")


class BgpRoute(Answer):
    """One route between this router and a neighbor. Null is what FRR does not tell."""

    prefix: str
    status: Literal["accepted", "refused", "advertised", "not advertised"] = Field(
        description="As FRR has it."
    )
    learned_from: str = Field("", description="Of an advertised route: the neighbor; empty for an own route.")
    next_hop: str | None = None
    as_path: str = ""
    origin: str | None = None
    med: int | None = None
    local_preference: int | None = None
    communities: tuple[str, ...] | None = None
    large_communities: tuple[str, ...] | None = None
    extended_communities: tuple[str, ...] | None = None
    best: bool = Field(False, description="It is the path used for its prefix.")
    valid: bool = Field(True, description="Its next hop can be reached.")
    since_epoch_s: Number | None = None
    policy: PolicyVerdict
    remark: str = Field("", description="Where FRR and the policy differ, or why it is not advertised.")


class BgpRoutes(Answer):
    """A page of the routes of a neighbor, or the answer for one prefix or address."""

    neighbor: str
    direction: Direction
    family: Literal["ipv4", "ipv6"]
    established: bool
    prefixes: int | None = Field(None, description="Accepted from it, or sent to it, as FRR counts.")
    keeps_refused: bool = Field(
        description="soft_reconfiguration_inbound: routes that the policy refuses are kept, and shown here."
    )
    prefix_list: str | None = None
    route_map: str | None = None
    attributes: Literal["after policy", "before policy"] = Field(
        description="FRR shows received routes as the policy left them, and here those advertised before it."
    )
    routes: tuple[BgpRoute, ...] = ()
    total: int = Field(0, description="Routes in this list.")
    listed: bool = Field(True, description="False where the table is too long for a list.")
    note: str = Field("", description="What is not in the answer, and why.")
    age_s: Number = Field(0, description="Seconds since FRR was asked for the list.")
    list_limit: int = Field(description="Lists are shown up to this number of routes of a family.")
    offset: int
    limit: int


def _read(router: Router, question: BgpRoutesQuery) -> BgpRoutes:
    from appliance.config.vrf_view import seen_in
    from appliance.features.bgp.neighbor_routes import neighbor_routes

    return neighbor_routes(
        seen_in(router.engine.running_config, question.vrf or ""), router.routing_in(question.vrf), question
    )


BGP_ROUTES = Part(
    "bgp-routes",
    "Routes received from, or advertised to, a BGP neighbor, with the policy's verdict.\n\n"
    "A list is shown where the table of the family has up to `list_limit` routes; a prefix or an address is "
    "answered whatever its size, and of the prefixes within another those that are up to 8 bits longer.",
    BgpRoutesQuery,
    BgpRoutes,
    _read,
    path="bgp/neighbors/{address}/{direction}",
    lane=lambda question: "bgp route lists" if question.is_list else "bgp routes",
)
