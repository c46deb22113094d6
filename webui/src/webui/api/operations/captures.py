"""Packet captures; their list is a part of the live state."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponseBase
from ninja import Path, Router, Status

from appliance.state.captures import CAPTURE_ID, CaptureState, CaptureWanted
from webui import router_captures
from webui.accounts.roles import Role
from webui.api.auth import actor, needs

router = Router(tags=["captures"])
CaptureName = Annotated[str, Path(pattern=CAPTURE_ID, description="Its id.")]
_BYTES = {"schema": {"type": "string", "format": "binary"}}
# Generators of clients know the second and not the first, and would leave the answer out.
_PCAP = {"application/vnd.tcpdump.pcap": _BYTES, "application/octet-stream": _BYTES}
_operator = needs(Role.OPERATOR)


@router.post("/captures", auth=_operator, response={201: CaptureState}, operation_id="start_capture")
def start(request: HttpRequest, body: CaptureWanted) -> Any:
    """Capture packets of an interface until the first limit is reached. The file holds what people say."""
    return Status(201, router_captures.start(actor(request), body))


@router.post("/captures/{capture}/stop", auth=_operator, response=CaptureState, operation_id="stop_capture")
def stop(request: HttpRequest, capture: CaptureName) -> Any:
    """End a capture; its file is whole then."""
    return router_captures.stop(actor(request), capture)


@router.delete("/captures/{capture}", auth=_operator, response=CaptureState, operation_id="remove_capture")
def remove(request: HttpRequest, capture: CaptureName) -> Any:
    """Remove a capture that has ended, and its file."""
    return router_captures.remove(actor(request), capture)


@router.get(
    "/captures/{capture}/file",
    auth=_operator,
    operation_id="get_capture_file",
    openapi_extra={"responses": {200: {"description": "The packets, as a pcap file.", "content": _PCAP}}},
)
def file(request: HttpRequest, capture: CaptureName) -> HttpResponseBase:
    """The packets of a capture that has ended; needs the role operator, as they hold what people say."""
    return router_captures.file(actor(request), capture)
