"""Neighbors that are enabled and not established, and routes that outlive BGP itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.health.check import UNDER_WAY_S, Check, Finding, Look
from appliance.routing.rows import Family
from frr_config.protocols.bgp.session import BgpSession, sessions

if TYPE_CHECKING:
    from appliance.agent.router import Router

_SET_UP_S = 30.0
"""A session that was never up has this long to come up."""
_TAKEN_BACK_S = 60.0
"""zebra takes this long to remove a full table."""
_FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
_FAMILY_WORDS = {"ipv4": "IPv4", "ipv6": "IPv6"}


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


def _left(router: Router) -> Mapping[str, int]:
    """Routes of BGP in zebra, by family. It walks its table for them, which without BGP is not a full one."""
    counts = {family: router.routing.rib_counts(family).get("bgp") for family in _FAMILIES}
    return {family: count.rib for family, count in counts.items() if count is not None and count.rib}


def stale(look: Look[Mapping[str, int]]) -> Iterator[Finding]:
    """FRR 10.3 fails to withdraw routes when BGP is removed while those of a lost neighbor still are."""
    if not look.now:
        return
    listed = " and ".join(f"{count:,} {_FAMILY_WORDS[family]}" for family, count in look.now.items())
    yield Finding(
        "stale_routes",
        "bgp",
        "major",
        f"BGP is not configured, but FRR still forwards by {listed} BGP routes",
        "FRR failed to remove them. Restart it: systemctl restart frr.",
        {family: str(count) for family, count in look.now.items()},
        patience_s=_TAKEN_BACK_S,
    )


CHECKS = (
    Check("BGP sessions", _sessions, down, _concerns),
    Check("routes left by BGP", _left, stale, lambda config: config.routing.bgp is None),
)
