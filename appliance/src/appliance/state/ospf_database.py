"""OSPF's link state database."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any

from pydantic import Field

from appliance.state.part import Answer, Number, OfVrf, Part
from frr_config.protocols.ospf.database import TYPES, LsaType

if TYPE_CHECKING:
    from appliance.agent.router import Router

__all__ = ["OSPF_DATABASE", "TYPES", "LsaCount", "LsaState", "OspfDatabase", "OspfDatabaseQuery"]


class OspfDatabaseQuery(OfVrf):
    """Which LSAs."""

    type: LsaType | None = Field(None, description="Only of this type.")
    lsa_id: IPv4Address | None = Field(
        None, description="Only with this link state ID; with a type, answered whatever the database's size."
    )
    area: IPv4Address | None = Field(None, description="Only of this area, and so none of the whole AS.")
    advertising_router: IPv4Address | None = Field(None, description="Only of this router.")
    offset: int = Field(0, ge=0, le=1_000_000, description="Number to skip from the start.")
    limit: int = Field(100, ge=1, le=200, description="LSAs in one page.")

    @property
    def is_list(self) -> bool:
        """Whether ospfd has to write all it has."""
        return self.type is None or self.lsa_id is None


class LsaState(Answer):
    """One LSA (RFC 2328, A.4). Null is what FRR does not tell."""

    area: str | None = Field(None, description="Null for one that is flooded through the whole AS.")
    type: LsaType
    lsa_id: str
    advertising_router: str
    age_s: int | None = Field(None, description="3600 where it is being withdrawn.")
    sequence: str | None = Field(None, description="In hexadecimal, such as 0x080b.")
    checksum: str | None = Field(None, description="In hexadecimal.")
    length_bytes: int | None = None
    about: str = Field("", description="The route that it describes, or its number of links.")
    own: bool = Field(False, description="This router advertises it.")
    detail: dict[str, Any] = Field(
        {}, description="Of one LSA: FRR's own words on its body; they differ between its versions."
    )


class LsaCount(Answer):
    """LSAs of a type in an area."""

    area: str | None = Field(None, description="Null for the whole AS.")
    type: LsaType
    lsas: int


class OspfDatabase(Answer):
    """A page of the database, or the LSAs of one type and ID."""

    router_id: str | None = None
    lsas: tuple[LsaState, ...] = ()
    total: int = Field(0, description="LSAs in this list.")
    counts: tuple[LsaCount, ...] = Field((), description="All LSAs of the database, listed or not.")
    note: str = Field("", description="What is not in the answer, and why.")
    age_s: Number = Field(0, description="Seconds since FRR was asked for the list.")
    list_limit: int = Field(description="Lists are shown up to this number of LSAs.")
    offset: int
    limit: int


def _read(router: Router, question: OspfDatabaseQuery) -> OspfDatabase:
    from appliance.features.ospf.database import ospf_database

    return ospf_database(router.routing_in(question.vrf), question)


OSPF_DATABASE = Part(
    "ospf-database",
    "OSPF's link state database: a list, or one LSA with its body.\n\n"
    "Lists are shown of up to `list_limit` LSAs; a type and a link state ID are answered whatever "
    "their number.",
    OspfDatabaseQuery,
    OspfDatabase,
    _read,
    path="ospf/database",
    command="ospf",
    lane=lambda question: "ospf database" if question.is_list else "ospf lsa",
)
