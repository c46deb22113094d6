"""Why a router may not be measured at the moment."""

from __future__ import annotations

from appliance.capture.captures import CaptureFiles
from appliance.engine.engine import Engine
from appliance.tracing.traces import PacketTraces


def why_occupied(engine: Engine, captures: CaptureFiles, traces: PacketTraces) -> str:
    """A sentence that says what to do; empty if nothing is under way.

    A rollback that falls due waits at most a second for a bench, so none begins when one may fall due.
    """
    commits = engine.turns.under_way()
    if commits.running is not None or commits.queued:
        return "a commit is under way: wait for it (show commits)"
    if (pending := engine.pending_confirm()) is not None:
        return (
            f"revision {pending['revision']} awaits confirmation: confirm it, or wait until it is rolled back"
        )
    if (watch := engine.watched.now()) is not None:
        return (
            f"revision {watch['revision']} is watched for {watch['left_s']:.0f} more seconds, and a bench "
            "would look like a fault: wait (show watch)"
        )
    if (capture := next((one for one in captures.all() if one.state == "running"), None)) is not None:
        return f"packets are captured: end it with `capture stop {capture.id}`, or wait (show captures)"
    if (trace := next((one for one in traces.all() if one.state == "running"), None)) is not None:
        return f"packets are traced: end it with `trace stop {trace.id}`, or wait (show traces)"
    return ""
