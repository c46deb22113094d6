"""Packet captures, sent to the router's agent and recorded in the audit log, because they hold users'
content.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from django.conf import settings
from django.http import StreamingHttpResponse

from appliance.client import AsyncAgentClient
from appliance.errors import NotFound
from appliance.state.captures import CAPTURES, CaptureState, CaptureWanted
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.audited import audited
from webui.accounts.roles import Role
from webui.agent import agent

_MEDIA_TYPE = "application/vnd.tcpdump.pcap"


def kept() -> tuple[CaptureState, ...]:
    """Running and kept captures, the newest first."""
    return agent().state(CAPTURES).captures


def start(actor: Actor, wanted: CaptureWanted) -> CaptureState:
    """Start one. Raises ValidationFailed, NotFound, Conflict, StorageFull."""
    what = f"{wanted.interface} {wanted.direction} {wanted.filter}".strip()
    return audited(actor, "capture.start", what, lambda: agent().start_capture(wanted, author=actor.name))


def stop(actor: Actor, capture: str) -> CaptureState:
    """End one. Raises NotFound."""
    return audited(actor, "capture.stop", capture, lambda: agent().stop_capture(capture))


def remove(actor: Actor, capture: str) -> CaptureState:
    """Remove one. Raises NotFound, Conflict while it runs."""
    return audited(actor, "capture.remove", capture, lambda: agent().remove_capture(capture))


def file(actor: Actor, capture: str) -> StreamingHttpResponse:
    """Its packets, as a download. Raises NotFound, Conflict while it runs."""
    actor.require(Role.OPERATOR)
    # The agent says whether it can be read before the answer begins.
    first = agent().capture_part(capture, 0)
    state = next((one for one in kept() if one.id == capture), None)
    if state is None:
        raise NotFound(f"there is no capture {capture}")
    audit.record(actor, "capture.download", capture)
    moment = state.started_at[:19].replace(":", "").replace("-", "")
    return StreamingHttpResponse(
        _parts(capture, first, state.size_bytes),
        content_type=_MEDIA_TYPE,
        headers={
            "Content-Disposition": f'attachment; filename="{state.interface}-{moment}-{state.id}.pcap"',
            "Content-Length": str(state.size_bytes),
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
        },
    )


async def _parts(capture: str, first: bytes, size_bytes: int) -> AsyncIterator[bytes]:
    yield first
    offset = len(first)
    client = AsyncAgentClient(settings.AGENT_SOCKET)
    try:
        while offset < size_bytes and (data := await client.capture_part(capture, offset)):
            offset += len(data)
            yield data
    finally:
        await client.aclose()
