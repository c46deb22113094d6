"""A session table that fills up, and sessions refused because it is full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from appliance.config.document import RouterConfig
from appliance.health.check import Check, Finding, Look
from appliance.state.nat import FILLING, NatState, table

if TYPE_CHECKING:
    from appliance.agent.router import Router

_EASING = 0.05
"""An alarm stands until the table is this much emptier than what raised it."""
_OBJECT = "NAT"
_ADVICE = (
    "Look at the hosts with the most sessions on the page NAT: one that has far more than the others may be"
    " scanning or infected. Clear its sessions, or lower the timeouts."
)


def filling(look: Look[NatState]) -> Iterator[Finding]:
    """From 80 % on, and when there is no space left."""
    now, before = look.now, look.before or look.now
    eased = _EASING if ("nat_table_filling", _OBJECT) in look.standing else 0.0
    if now.fullness < FILLING - eased:
        return
    refused, evicted = _more(now.refused, before.refused), _more(now.evicted, before.evicted)
    evidence = {
        "in use": f"{now.in_use:,} of {now.limit:,} entries",
        "timed out": f"{now.timed_out:,}",
        "dropped": f"{refused:,} packets in {look.elapsed_s:.0f} s",
        "ended early": f"{evicted:,} sessions in {look.elapsed_s:.0f} s",
    }
    shown = {name: words for name, words in evidence.items() if not words.startswith("0")}
    if refused:
        summary = f"NAT refuses new sessions: {refused:,} packets were dropped, because its table is full"
        yield Finding("nat_table_full", _OBJECT, "critical", summary, _ADVICE, shown, "/nat")
    elif evicted:
        summary = f"NAT's table is full: {evicted:,} sessions were ended early to make room for new ones"
        yield Finding("nat_table_full", _OBJECT, "major", summary, _ADVICE, shown, "/nat")
    else:
        summary = f"NAT's session table is {now.fullness:.0%} full"
        advice = f"When it is full new sessions are refused. {_ADVICE}"
        yield Finding("nat_table_filling", _OBJECT, "warning", summary, advice, shown, "/nat")


def _more(now: int, before: int) -> int:
    """How many came since; 0 if the counter began anew."""
    return max(now - before, 0)


def _read(router: Router) -> NatState:
    return table(router.dataplane, closely=False)


def _concerns(config: RouterConfig) -> bool:
    return config.nat is not None


CHECKS = (Check("NAT's table", _read, filling, _concerns),)
