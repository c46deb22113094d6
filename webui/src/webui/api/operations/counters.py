"""Counters: the latest, over time, and live."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from ninja import Query, Router, Schema
from pydantic import BaseModel, ConfigDict, Field

from webui.accounts.roles import Role
from webui.agent import agent
from webui.api.auth import needs
from webui.metrics.history import history
from webui.metrics.live import events

router = Router(tags=["counters"])


class Sample(BaseModel):
    """Absolute counters at one moment; a reader takes differences."""

    model_config = ConfigDict(extra="allow")

    time: float = Field(description="Unix seconds.")
    interfaces: dict[str, dict[str, float | int | None]]
    acls: dict[str, dict[str, dict[str, int]]] = {}
    workers: list[dict[str, Any]] = []
    drops: dict[str, int] = {}


class Columns(Schema):
    """Rates of one interface, one value for each time; null where nothing is known."""

    rx_bps: list[float | None]
    tx_bps: list[float | None]
    rx_pps: list[float | None]
    tx_pps: list[float | None]
    rx_drops_ps: list[float | None]
    tx_drops_ps: list[float | None]


class History(Schema):
    """Rates over a range of time."""

    range: str
    step_s: int
    time: list[int] = Field(description="Unix seconds.")
    interfaces: dict[str, Columns]


Range = Annotated[Literal["5m", "1h", "24h", "30d"], Query("1h", alias="range", description="How far back.")]


@router.get("/counters", auth=needs(Role.VIEWER), response=Sample, operation_id="get_counters")
def latest(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """The latest sample."""
    return agent().counters()


@router.get(
    "/counters/history", auth=needs(Role.VIEWER), response=History, operation_id="get_counters_history"
)
def over_time(request: HttpRequest, length: Range) -> Any:  # noqa: ARG001 - ninja's signature
    """Rates of every interface over the last minutes to days."""
    return history(length)


@router.get(
    "/counters/stream",
    auth=needs(Role.VIEWER),
    operation_id="stream_counters",
    openapi_extra={
        "responses": {
            200: {
                "description": "Server-sent events: `sample`, one a second; `gap` while there is none.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            }
        }
    },
)
def stream(request: HttpRequest) -> HttpResponseBase:  # noqa: ARG001 - ninja's signature
    """Samples as they are taken, as server-sent events."""
    return StreamingHttpResponse(
        events(),
        content_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )
