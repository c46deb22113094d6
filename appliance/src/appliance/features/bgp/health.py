"""Neighbors that are enabled and not established."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.health.check import UNDER_WAY_S, Check, Finding, Look
from frr_config.protocols.bgp.session import BgpSession, sessions

if TYPE_CHECKING:
    from appliance.agent.router import Router

_SET_UP_S = 30.0
"""A session that was never up has so long to come up."""


def _sessions(router: Router) -> Mapping[str, BgpSession]:
    return router.routing.ask(sessions)


def down(look: Look[Mapping[str, BgpSession]]) -> Iterator[Finding]:
    """One alarm for each enabled neighbor of the document whose session is not established."""
    bgp = look.config.routing.bgp
    for address, neighbor in bgp.neighbors.items() if bgp is not None else ():
        if not neighbor.enabled:
            continue
        session = look.now.get(address)
        name = f"BGP neighbor {address}" + (f" ({neighbor.description})" if neighbor.description else "")
        pointer = join(("routing", "bgp", "neighbors", address))
        if session is None:
            yield Finding(
                "bgp_down",
                address,
                "major",
                f"{name}: FRR does not know the neighbor",
                "The router differs from its document: see drift.",
                pointer=pointer,
                patience_s=UNDER_WAY_S,
            )
        elif not session.is_established:
            reason, advice = session.down
            never = session.established_count == 0
            yield Finding(
                "bgp_down",
                address,
                "major",
                f"{name} is down: {reason}",
                advice,
                {
                    "state": session.state,
                    "reason": reason,
                    "been up": _times(session.established_count),
                },
                pointer,
                None if never else session.since_s,
                patience_s=_SET_UP_S if never else 0.0,
            )


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")


def _concerns(config: RouterConfig) -> bool:
    return config.routing.bgp is not None and bool(config.routing.bgp.neighbors)


CHECKS = (Check("BGP sessions", _sessions, down, _concerns),)
