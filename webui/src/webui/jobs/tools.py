"""The work of the jobs: each function takes its job and returns the result, or None when it was cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from webui.agent import agent
from webui.jobs import services
from webui.jobs.models import Job

Result = dict[str, Any] | None
PAUSE_S = 0.5
"""The interval between two packets of a ping."""


def ping(job: Job) -> Result:
    """Send the packets one after the other, so that progress shows and cancelling works."""
    arguments = job.arguments
    count = int(arguments["count"])
    times_ms: list[float] = []
    sent = received = 0
    for number in range(1, count + 1):
        answer = agent().ping(
            arguments["destination"],
            count=1,
            source=arguments.get("source"),
            size=arguments.get("size"),
            vrf=arguments.get("vrf"),
        )
        result = dict(answer.get("result") or {})
        sent += int(result.get("sent", 1))
        received += int(result.get("received", 0))
        times_ms += [float(result["avg_ms"])] if result.get("avg_ms") is not None else []
        if not services.progress(job, number * 100 // count, f"{number}: {_told(answer, result)}"):
            return None
        if number < count:
            time.sleep(PAUSE_S)
    return {
        "sent": sent,
        "received": received,
        "loss_percent": round(100 * (sent - received) / sent, 1) if sent else 0.0,
        "min_ms": min(times_ms, default=None),
        "avg_ms": round(sum(times_ms) / len(times_ms), 3) if times_ms else None,
        "max_ms": max(times_ms, default=None),
    }


def _told(answer: dict[str, Any], result: dict[str, Any]) -> str:
    """The result of one packet; where none was sent, the last line of the tool's output."""
    if result.get("received"):
        # With a payload too short for the time of sending, no time comes back.
        took = "" if result.get("avg_ms") is None else f" in {result['avg_ms']} ms"
        return f"answer from {result.get('destination', 'there')}{took}"
    if result.get("sent"):
        return "no answer"
    return (str(answer.get("output", "")).strip().splitlines() or ["nothing was sent"])[-1]


def traceroute(job: Job) -> Result:
    """One call of the agent: all hops arrive together."""
    arguments = job.arguments
    if not services.progress(job, 5):
        return None
    answer = dict(
        agent().traceroute(arguments["destination"], source=arguments.get("source"), vrf=arguments.get("vrf"))
    )
    if not services.progress(job, 95, str(answer.get("output", ""))):
        return None
    result = answer.get("result") or {}
    return dict(result) if isinstance(result, dict) else {"hops": result}


TOOLS: dict[str, Callable[[Job], Result]] = {"ping": ping, "traceroute": traceroute}
