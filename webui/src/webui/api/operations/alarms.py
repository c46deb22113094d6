"""Alarms that stand, and the log of those that were raised and cleared."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router

from appliance.state.alarms import SEVERITIES, Alarm, AlarmEvent, EventsQuery, Severity
from webui.accounts.roles import Role
from webui.agent import agent
from webui.alarms import alarms
from webui.api.auth import needs
from webui.api.paging import PLAIN_TEXT, Limit, Offset, Paged, page, page_of_list

router = Router(tags=["alarms"])

Kind = Annotated[
    str | None, Query(None, max_length=128, pattern=PLAIN_TEXT, description="Such as link_down.")
]
Object = Annotated[
    str | None, Query(None, max_length=128, pattern=PLAIN_TEXT, description="The whole name of the object.")
]
Severities = Annotated[Severity | None, Query(None, description=", ".join(SEVERITIES))]
What = Annotated[Literal["raised", "cleared"] | None, Query(None)]


class PagedAlarms(Paged[Alarm]):
    """A page of the alarms, and how far they can be trusted."""

    counts: dict[Severity, int]
    worst: Severity | None
    looked_s_ago: float | None
    checks: list[str]
    unchecked: dict[str, str]


@router.get("/alarms", auth=needs(Role.VIEWER), response=PagedAlarms, operation_id="list_alarms")
def list_alarms(
    request: HttpRequest,
    limit: Limit,
    offset: Offset,
    kind: Kind,
    object: Object,  # noqa: A002 - the query's word
    severity: Severities,
) -> Any:
    """Alarms that stand, the worst first. Nothing is wrong only where there is none, `unchecked` is empty and
    `looked_s_ago` is small."""
    answer = alarms()
    found = [
        one
        for one in answer.alarms
        if kind in (None, one.kind) and object in (None, one.object) and severity in (None, one.severity)
    ]
    return {**answer.model_dump(exclude={"alarms"}), **page_of_list(request, found, limit, offset)}


@router.get("/events", auth=needs(Role.VIEWER), response=Paged[AlarmEvent], operation_id="list_events")
def list_events(
    request: HttpRequest,
    limit: Limit,
    offset: Offset,
    event: What,
    kind: Kind,
    object: Object,  # noqa: A002 - the query's word
    severity: Severities,
) -> Any:
    """Alarms that were raised and cleared, the newest first."""
    found = agent().events(
        EventsQuery(limit=limit, offset=offset, event=event, kind=kind, object=object, severity=severity)
    )
    return page(request, found.events, found.total, limit, offset)
