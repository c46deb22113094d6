"""Routes that BGP accepted, searched by their attributes: the index of the default VRF, and its state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from appliance.state.part import Answer, Everything, Gauge, Number, Part, Question
from appliance.state.routes import Destination, Gateway
from frr_config.protocols.bgp.search_terms import (
    OWN,
    PathLength,
    SearchedAsn,
    SearchedCommunity,
    SearchedNeighbor,
    SearchedPath,
    key_of_community,
)

if TYPE_CHECKING:
    from appliance.agent.router import Router

FamilyName = Literal["ipv4", "ipv6"]
Match = Literal["within", "exact", "covering"]
IndexState = Literal["absent", "idle", "connecting", "reading", "ready"]
STATES = (
    "absent: this router has no index, or runs no BGP in the default VRF. idle: nobody has searched for a "
    "while, and the index holds nothing. connecting: bgpd does not answer it yet. reading: not all routes "
    "are there yet. ready: all are, and kept current."
)
NO_INDEX = "This router has no BGP index: its routes cannot be searched."
NO_BGP = "BGP does not run in the default VRF: there is nothing to search."
SHORTENED = "The attributes of these routes are so long that the page ends early: ask for fewer (limit)."
TRUNCATED = "BGP has more routes than the index may hold: those beyond are not searched."


class BgpSearchQuery(Question):
    """Which routes of the default VRF: those that match all that is given."""

    family: FamilyName | None = Field(
        None, description="Of this address family; where it is not given, the prefix's, or else ipv4."
    )
    prefix: Destination | None = Field(None, description="A prefix, or an address.")
    match: Match | None = Field(
        None,
        description="Of the prefix: within, it and more specific ones (the default for a prefix); exact, it "
        "alone; covering, it and less specific ones (the default for an address).",
    )
    asn: SearchedAsn | None = Field(None, description="Only with this AS number anywhere in the AS path.")
    origin_asn: SearchedAsn | None = Field(None, description="Only from this AS: the last of the AS path.")
    first_asn: SearchedAsn | None = Field(None, description="Only through this AS: the first of the AS path.")
    path: SearchedPath | None = Field(
        None,
        description="Only with these AS numbers next to each other in the AS path, such as 65001 65010.",
    )
    path_length: PathLength | None = Field(
        None, description="Only with this many AS numbers in the AS path: a number, or a range such as 3-5."
    )
    community: SearchedCommunity | None = Field(
        None,
        description="Only with this community: 65001:100, large as 65001:1:2, extended as rt:65001:100 or in "
        "16 hexadecimal digits, or no-export, no-advertise, local-AS, no-peer, blackhole, graceful-shutdown.",
    )
    neighbor: SearchedNeighbor | None = Field(
        None, description="Only accepted from the neighbor with this address; self for this router's own."
    )
    next_hop: Gateway | None = Field(None, description="Only with this next hop.")
    offset: int = Field(0, ge=0, le=10_000_000, description="Number to skip from the start.")
    limit: int = Field(100, ge=1, le=200, description="Routes in one page.")

    @field_validator("prefix")
    @classmethod
    def _of_the_family(cls, prefix: str | None, given: ValidationInfo) -> str | None:
        family = given.data.get("family")
        if prefix is not None and family not in (None, _family_of(prefix)):
            raise PydanticCustomError("family", "must be of the family that is asked for")
        return prefix

    @field_validator("match")
    @classmethod
    def _of_a_prefix(cls, match: Match | None, given: ValidationInfo) -> Match | None:
        if match is not None and given.data.get("prefix", "") is None:
            raise PydanticCustomError("match", "needs a prefix or an address")
        return match

    @property
    def searched_family(self) -> FamilyName:
        """The address family of all that can be found."""
        return self.family or ("ipv4" if self.prefix is None else _family_of(self.prefix))

    def terms(self) -> Iterator[tuple[str, str]]:
        """Keys and values of the index's question; no value has a space in it."""
        if self.prefix is not None:
            match = self.match or ("within" if "/" in self.prefix else "covering")
            yield match, self.prefix if "/" in self.prefix or match == "covering" else _host(self.prefix)
        numbers = {"as": self.asn, "origin_as": self.origin_asn, "first_as": self.first_asn}
        yield from ((key, str(number)) for key, number in numbers.items() if number is not None)
        if self.path is not None:
            yield "path", self.path.replace(" ", "_")
        if self.path_length is not None:
            yield "path_length", self.path_length
        if self.community is not None:
            yield key_of_community(self.community)
        if self.neighbor is not None:
            yield "neighbor", self.neighbor
        if self.next_hop is not None:
            yield "next_hop", self.next_hop
        yield "offset", str(self.offset)
        yield "limit", str(self.limit)


def _family_of(prefix: str) -> FamilyName:
    return "ipv6" if ":" in prefix else "ipv4"


def _host(address: str) -> str:
    return f"{address}/{128 if ':' in address else 32}"


class FoundRoute(Answer):
    """A route as it was accepted from a neighbor, after its policy. Null is what the route does not have."""

    prefix: str
    neighbor: str = Field(description="Address of the neighbor it is from; self for this router's own.")
    neighbor_asn: int | None = None
    as_path: str = Field("", description="Empty for a route of this AS. Sets are in braces.")
    origin: str | None = Field(None, description="igp, egp or incomplete.")
    next_hop: str | None = None
    link_local_next_hop: str | None = None
    med: int | None = None
    local_preference: int | None = None
    communities: tuple[str, ...] = ()
    large_communities: tuple[str, ...] = ()
    extended_communities: tuple[str, ...] = ()
    originator_id: str | None = None
    cluster_list: tuple[str, ...] = ()
    atomic_aggregate: bool = False
    aggregator: str | None = Field(None, description="AS number and address.")
    age_s: Number | None = Field(None, description="Seconds since bgpd received it.")
    as_of_s: Number | None = Field(
        None,
        description="Of this router's own: seconds since bgpd reported it. Its removal may not be reported.",
    )

    @property
    def is_own(self) -> bool:
        """Whether it is from no neighbor."""
        return self.neighbor == OWN


class BgpSearch(Answer):
    """A page of the routes that match, in the order of prefix and neighbor."""

    state: IndexState = Field(description=STATES)
    complete: bool = Field(False, description="All routes of the default VRF were searched.")
    truncated: bool = Field(False, description="There are more routes than the index may hold.")
    note: str = Field("", description="Why not all is searched, unless it is only a matter of time.")
    vrf: str = Field("default", description="The VRF that is searched.")
    family: FamilyName
    routes: tuple[FoundRoute, ...] = ()
    total: int = Field(0, description="Routes that match, exactly, of those that were read so far.")
    read: int = Field(0, description="Routes of both families that the index holds: one for each neighbor.")
    expected: int | None = Field(
        None, description="While it reads: about how many there are, as bgpd counts those of its neighbors."
    )
    offset: int
    limit: int

    @property
    def says(self) -> str:
        """How much was searched, in a sentence; empty where there is no index."""
        if self.state == "reading":
            of = "" if not self.expected else f" of about {max(self.expected, self.read):,}"
            return f"The index is being read: {self.read:,}{of} routes so far."
        if self.state == "ready":
            all_of = "the first" if self.truncated else "all"
            return f"Searched {all_of} {self.read:,} routes of both families."
        return "" if self.state == "absent" else "The index waits for bgpd."


class IndexedFamily(Answer):
    """What the index holds of an address family."""

    routes: int = Field(0, description="Prefixes.")
    paths: int = Field(0, description="Routes to them, one for each neighbor.")


class IndexedNeighbor(Answer):
    """A neighbor whose routes the index holds."""

    address: str
    asn: int | None = None
    up: bool = False
    ipv4: int = 0
    ipv6: int = 0


class BgpIndexState(Answer):
    """The index that routes are searched in. Asking for its state starts nothing."""

    state: IndexState = Field(description=STATES)
    why: str = Field("", description="What the index, or this router, says of that.")
    since_s: Number = Field(0, description="How long it is in this state.")
    idle_s: int | None = Field(None, description="Seconds until it discards all routes, if nobody searches.")
    truncated: bool = Field(False, description="There are more routes than it may hold.")
    ipv4: IndexedFamily = IndexedFamily()
    ipv6: IndexedFamily = IndexedFamily()
    attributes: int = Field(0, description="Distinct sets of attributes.")
    memory_bytes: int = 0
    neighbors: tuple[IndexedNeighbor, ...] = ()


def _search(router: Router, question: BgpSearchQuery) -> BgpSearch:
    from appliance.features.bgp.index import search

    return search(router, question)


def _state(router: Router, _: Everything) -> BgpIndexState:
    from appliance.features.bgp.index import index_state

    return index_state(router)


def _gauges(state: BgpIndexState) -> Iterator[Gauge]:
    if state.state == "absent":
        return
    paths = state.ipv4.paths + state.ipv6.paths
    yield Gauge("bgp_index_routes", "Routes of all neighbors that the index of BGP holds.", paths)
    yield Gauge("bgp_index_memory_bytes", "Memory that the index of BGP takes.", state.memory_bytes)
    yield Gauge("bgp_index_ready", "Whether the index of BGP holds all routes.", state.state == "ready")


BGP_SEARCH = Part(
    "bgp-search",
    "Routes that BGP accepted in the default VRF, searched by prefix, AS path, community, neighbor or next "
    "hop.\n\nThe first search makes the index read them from bgpd, and returns what is there: ask again "
    "until it is `complete`. The index discards them when nobody searches for a quarter of an hour.",
    BgpSearchQuery,
    BgpSearch,
    _search,
    path="bgp/search",
    command="bgp",
)
BGP_INDEX = Part(
    "bgp-index",
    "The index that BGP routes are searched in: how far it is, and what it holds.",
    Everything,
    BgpIndexState,
    _state,
    path="bgp/index",
    gauges=_gauges,
)
