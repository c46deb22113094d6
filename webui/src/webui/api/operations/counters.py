"""Counters: the latest, over time, and live."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponseBase
from ninja import Path, Query, Router, Schema
from pydantic import BaseModel, ConfigDict, Field

from appliance.state.counter_selection import FIELDS, MAX_INTERFACES, field_names, interface_names, parse
from webui.accounts.roles import Role
from webui.agent import agent
from webui.api.auth import actor, needs
from webui.api.still_allowed import still_allowed
from webui.http.client_address import source_of
from webui.http.live_response import LiveResponse
from webui.metrics.history import history
from webui.metrics.live import events
from webui.metrics.rates import COLUMNS

router = Router(tags=["counters"])


class ClearedInterface(Schema):
    """When the counters of an interface were cleared, by whom, and what they were then."""

    at: str
    by: str
    base: dict[str, int] = Field(description="By counter: what is to be taken off.")


class Sample(BaseModel):
    """Absolute counters at one moment, those that were asked for; a reader takes differences. They only grow:
    what was cleared is beside them, to be taken off where counters are shown (``state/counters`` does).
    """

    model_config = ConfigDict(extra="allow")

    time: float = Field(description="Unix seconds.")
    interfaces: dict[str, dict[str, float | int | None]] = {}
    workers: list[dict[str, Any]] = []
    drops: dict[str, int] = {}
    cleared: dict[str, ClearedInterface] = Field({}, description="By interface, of those that were cleared.")


class Columns(Schema):
    """Rates of one interface, one value for each time; null where nothing is known."""

    rx_bps: list[float | None] = []
    tx_bps: list[float | None] = []
    rx_pps: list[float | None] = []
    tx_pps: list[float | None] = []
    rx_drops_ps: list[float | None] = []
    tx_drops_ps: list[float | None] = []


class History(Schema):
    """Rates over a range of time."""

    range: str
    step_s: int
    time: list[int] = Field(description="Unix seconds.")
    interfaces: dict[str, Columns]


class RuleHits(Schema):
    """Hits of one rule."""

    packets: int
    bytes: int


class ClearedList(Schema):
    """When the hits of an access list were cleared, by whom, and what they were then."""

    at: str
    by: str
    rules: dict[str, RuleHits] = Field(
        description="By sequence: what is to be taken off. A rule that is not there was made since."
    )


class ListHits(Schema):
    """Hits of one access list, by rule; they only grow until a rule is made anew."""

    time: float = Field(description="Unix seconds of the reading; at most a second ago.")
    rules: dict[str, RuleHits] = Field(description="By sequence.")
    cleared: ClearedList | None = None


class ClearedTotal(Schema):
    """When the hits of an access list were cleared, by whom, and their sum then."""

    at: str
    by: str
    packets: int
    bytes: int


class ListTotal(Schema):
    """Hits of one access list, all its rules together."""

    rules: int
    packets: int
    bytes: int
    cleared: ClearedTotal | None = None


class ListTotals(Schema):
    """Hits of every access list."""

    time: float = Field(description="Unix seconds of the reading; at most a second ago.")
    acls: dict[str, ListTotal]


Range = Annotated[Literal["5m", "1h", "24h", "30d"], Query("1h", alias="range", description="How far back.")]
ListName = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
MAX_SEQUENCE = 2**32 - 1
First = Annotated[int, Query(0, ge=0, le=MAX_SEQUENCE, description="Only from this sequence on.")]
Last = Annotated[int, Query(MAX_SEQUENCE, ge=0, le=MAX_SEQUENCE, description="Only up to this one.")]
Fields = Annotated[
    str | None,
    Query(None, max_length=200, description=f"Only these, comma separated, of: {', '.join(FIELDS)}."),
]
ColumnNames = Annotated[
    str | None,
    Query(
        None,
        alias="fields",
        max_length=200,
        description=f"Only these, comma separated, of: {', '.join(COLUMNS)}.",
    ),
]
Interfaces = Annotated[
    str | None,
    Query(
        None,
        max_length=1100,
        description=f"Only these interfaces, comma separated, {MAX_INTERFACES} at most.",
    ),
]


@router.get(
    "/counters",
    auth=needs(Role.VIEWER),
    response=Sample,
    exclude_unset=True,
    operation_id="get_counters",
)
def latest(request: HttpRequest, fields: Fields, interfaces: Interfaces) -> Any:  # noqa: ARG001 - ninja's signature
    """The latest sample."""
    return agent().counters(parse(fields, interfaces))


@router.get(
    "/counters/history",
    auth=needs(Role.VIEWER),
    response=History,
    exclude_unset=True,
    operation_id="get_counters_history",
)
def over_time(request: HttpRequest, length: Range, columns: ColumnNames, interfaces: Interfaces) -> Any:  # noqa: ARG001 - ninja's signature
    """Rates of interfaces over the last minutes to days."""
    wanted = COLUMNS if columns is None else tuple(sorted(field_names(columns, COLUMNS)))
    return history(length, wanted, interface_names(interfaces))


@router.get("/counters/acls", auth=needs(Role.VIEWER), response=ListTotals, operation_id="get_acl_totals")
def acl_totals(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """Hits of each access list as they are now, its rules together."""
    return agent().acl_totals()


@router.get("/counters/acls/{name}", auth=needs(Role.VIEWER), response=ListHits, operation_id="get_acl_hits")
def acl_hits(request: HttpRequest, name: ListName, first: First, last: Last) -> Any:  # noqa: ARG001 - ninja's signature
    """Hits of the rules of one access list as they are now: of all, or of those from first to last."""
    hits = agent().acl_hits(name)
    cleared = hits["cleared"]
    if cleared is not None:
        cleared = {**cleared, "rules": _between(cleared["rules"], first, last)}
    return {**hits, "rules": _between(hits["rules"], first, last), "cleared": cleared}


def _between(rules: dict[str, Any], first: int, last: int) -> dict[str, Any]:
    return {sequence: one for sequence, one in rules.items() if first <= int(sequence) <= last}


@router.get(
    "/counters/stream",
    auth=needs(Role.VIEWER),
    operation_id="stream_counters",
    openapi_extra={
        "responses": {
            200: {
                "description": "Server-sent events: `sample`, one a second; `gap` while there is none;"
                " `skipped` where a slow reader has missed some.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            }
        }
    },
)
def stream(request: HttpRequest, fields: Fields, interfaces: Interfaces) -> HttpResponseBase:
    """Samples as they are taken, as server-sent events."""
    selection, known = parse(fields, interfaces), actor(request)
    live = events(selection, user=known.name, source=source_of(known.address))
    return LiveResponse(live, still_allowed(request, Role.VIEWER), "text/event-stream")
