"""Alarms as the web half shows them: the router's own, and those of Redis and the job worker.

The router needs neither of these to forward, converge or commit, so its agent does not check them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.state.alarms import SEVERITIES, Alarms, counted
from webui.agent import agent
from webui.alarms.parts import parts
from webui.alarms.watch import PartWatch

_watch = PartWatch(parts)


def alarms() -> Alarms:
    """All current alarms, the worst first, then the newest. Raises AgentUnavailable."""
    router = agent().alarms()
    own, unchecked = _watch.look()
    standing = sorted((*router.alarms, *own), key=lambda one: (SEVERITIES.index(one.severity), one.for_s))
    counts = counted(one.severity for one in standing)
    return router.model_copy(
        update={
            "alarms": tuple(standing),
            "counts": counts,
            "worst": next(iter(counts), None),
            "checks": (*router.checks, *(part.name for part in parts() if part.name not in unchecked)),
            "unchecked": {**router.unchecked, **unchecked},
        }
    )


def with_own(status: Mapping[str, Any]) -> dict[str, Any]:
    """The agent's status, with these alarms added to the counts in ``alarms``."""
    own, unchecked = _watch.look()
    if not own and not unchecked:
        return dict(status)
    found = status.get("alarms") or {}
    router: Mapping[str, int] = found.get("counts") or {}
    mine = counted(one.severity for one in own)
    sums = {severity: router.get(severity, 0) + mine.get(severity, 0) for severity in SEVERITIES}
    counts = {severity: number for severity, number in sums.items() if number}
    told = {
        **found,
        "counts": counts,
        "worst": next(iter(counts), None),
        "unchecked": {**(found.get("unchecked") or {}), **unchecked},
    }
    return {**status, "alarms": told}
