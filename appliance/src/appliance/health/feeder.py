"""The feeder that carries FRR's routes into VPP: behind for long, or refused by VPP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from appliance.health.check import Check, Finding, Look
from appliance.state.feeder import FEEDER, FeederState
from appliance.state.part import Everything

if TYPE_CHECKING:
    from appliance.agent.router import Router

BEHIND_MS = 10_000
"""A full Internet table is in VPP before that."""
_REFUSED_S = 4.0
"""A table or an interface may be made in this moment: the feeder tries again every 2 s."""


def _state(router: Router) -> FeederState:
    return FEEDER.read(router, Everything())


def feeder(look: Look[FeederState]) -> Iterator[Finding]:
    """Routes that FRR wants and VPP does not have."""
    state = look.now
    if state.behind_ms >= BEHIND_MS:
        behind_s = state.behind_ms / 1000
        yield Finding(
            "feeder_behind",
            "routes",
            "major",
            f"VPP is {behind_s:.0f} s behind FRR: it forwards by older routes",
            "The feeder goes on by itself. If it does not get on, VPP is busy or gone: see health, and the"
            " load of its threads.",
            {
                "changes on the way": str(state.pending),
                "VPP": "connected" if state.vpp_connected else state.vpp_error,
            },
            for_s=behind_s,
        )
    refused = state.ipv4.refused + state.ipv6.refused
    if refused:
        yield Finding(
            "routes_refused",
            "routes",
            "major",
            f"VPP refused {refused:,} route{'s'[: refused != 1]} that FRR wants: packets for them go"
            " elsewhere or are dropped",
            "The evidence counts what VPP said, since the feeder was started. It is tried again every 2 s.",
            {reason: str(count) for reason, count in state.refusals.items()},
            patience_s=_REFUSED_S,
        )


CHECKS = (Check("FIB feeder", _state, feeder),)
