"""The feeder that carries FRR's routes into VPP: routes late for long, refused, or too many for VPP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from appliance.health.check import Check, Finding, Look
from appliance.state.feeder import FEEDER, IN_TABLE, FeederState
from appliance.state.part import Everything

if TYPE_CHECKING:
    from appliance.agent.router import Router

BEHIND_MS = 10_000
"""VPP has a full Internet table sooner than that."""
FILLING = 0.8
FILLING_ENDS = 0.75
"""The share of the routes that VPP has room for."""
_STANDING = ("route_table_filling", "routes")
_SIZE = (
    "show dataplane (state/dataplane) says what decided the room. If the machine has the memory, raise"
    " main_heap_mb and stats_segment_mb of /dataplane, or leave them out and set its route_scale to auto:"
    " this restarts VPP. Or accept fewer routes, by a prefix list or a neighbor's maximum."
)
_SHOWN = 5
_REFUSED_S = 4.0
"""A table or an interface may just be in the making: the feeder tries again every 2 s."""


def _state(router: Router) -> FeederState:
    return FEEDER.read(router, Everything())


def feeder(look: Look[FeederState]) -> Iterator[Finding]:
    """Routes that FRR selected and VPP does not have."""
    state = look.now
    if state.behind_ms >= BEHIND_MS:
        behind_s = state.behind_ms / 1000
        yield Finding(
            "feeder_behind",
            "routes",
            "major",
            f"VPP is {behind_s:.0f} s behind FRR: it forwards by older routes",
            "The feeder catches up automatically. If it does not, VPP is busy or gone: see health, and the"
            " load of VPP's threads.",
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
            "The evidence counts VPP's answers since the feeder was started. It tries again every 2 s.",
            {reason: str(count) for reason, count in state.refusals.items()},
            patience_s=_REFUSED_S,
        )
    yield from _of_vrfs(state)
    yield from _room(look)


def _of_vrfs(state: FeederState) -> Iterator[Finding]:
    """The check of RIB and FIB compares those of the default VRF in all three tables."""
    named = [name for name in state.compared.named if IN_TABLE in name]
    if named:
        yield Finding(
            "routes_differ",
            "routes of VRFs",
            "major",
            f"VPP does not have {named[0]} as FRR wants it{' and others' if len(named) > 1 else ''}: packets"
            " of the VRF go elsewhere or are dropped",
            "The feeder automatically gives VPP such a route again. If it persists, see VPP's log.",
            {"routes": ", ".join(named[:_SHOWN])},
            patience_s=_REFUSED_S,
        )


def _room(look: Look[FeederState]) -> Iterator[Finding]:
    state, most = look.now, look.now.most_routes
    held_back = state.ipv4.held_back + state.ipv6.held_back
    in_vpp = state.in_vpp
    evidence = {"in VPP": f"{in_vpp:,}", "room for": "unknown" if most is None else f"{most:,}"}
    if held_back:
        yield Finding(
            "routes_held_back",
            "routes",
            "critical",
            f"VPP has no room for {held_back:,} route{'s'[: held_back != 1]} that FRR wants: packets for"
            " them go by a shorter prefix or are dropped",
            _SIZE,
            evidence | {"held back": f"{held_back:,}"},
        )
    elif most and in_vpp >= most * (FILLING_ENDS if _STANDING in look.standing else FILLING):
        yield Finding(
            "route_table_filling",
            "routes",
            "warning",
            f"VPP has {in_vpp:,} routes, {in_vpp * 100 // most} % of those that it has room for",
            _SIZE,
            evidence,
        )


def _keep_size(router: Router, look: Look[FeederState]) -> None:
    if router.feeder is not None:
        router.feeder.keep_size(look.now)


CHECKS = (Check("FIB feeder", _state, feeder, mends=_keep_size),)
