"""Packet traces; their list is a part of the live state."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Path, Router, Status

from appliance.state.traces import TRACE_ID, TraceResult, TraceState, TraceWanted
from webui import router_traces
from webui.accounts.roles import Role
from webui.api.auth import actor, needs

router = Router(tags=["traces"])
TraceName = Annotated[str, Path(pattern=TRACE_ID, description="Its id.")]
_operator = needs(Role.OPERATOR)


@router.post("/traces", auth=_operator, response={201: TraceState}, operation_id="start_trace")
def start(request: HttpRequest, body: TraceWanted) -> Any:
    """Trace packets that arrive on an interface through VPP's graph, until the first limit is reached.

    One at a time. Without VPP it is refused.
    """
    return Status(201, router_traces.start(actor(request), body))


@router.get("/traces/{trace}", auth=_operator, response=TraceResult, operation_id="get_trace")
def result(request: HttpRequest, trace: TraceName) -> Any:
    """A trace with its packets; there are none while it runs."""
    return router_traces.result(actor(request), trace)


@router.post("/traces/{trace}/stop", auth=_operator, response=TraceState, operation_id="stop_trace")
def stop(request: HttpRequest, trace: TraceName) -> Any:
    """End a trace; its packets are known then."""
    return router_traces.stop(actor(request), trace)


@router.delete("/traces/{trace}", auth=_operator, response=TraceState, operation_id="remove_trace")
def remove(request: HttpRequest, trace: TraceName) -> Any:
    """Remove a trace that has ended."""
    return router_traces.remove(actor(request), trace)
