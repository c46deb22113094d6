"""The agent's answers about the live router, prepared for pages.

Another router may have chosen any string of a neighbor, a route or a session: templates escape them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from appliance.state.bgp import BgpNeighborDetail, BgpNeighborState, BgpState
from appliance.state.ospf import OspfState


@dataclass(frozen=True)
class FamilyState:
    """Prefixes exchanged with a neighbor in one address family."""

    name: str
    received: Any
    accepted: Any
    sent: Any


@dataclass(frozen=True)
class SessionState:
    """A live BGP session."""

    address: str
    state: str
    uptime_s: float | None
    remote_asn: Any
    description: str
    families: tuple[FamilyState, ...]
    down_s: float | None = None
    down_reason: str = ""
    """Why it is down; empty while it is up."""
    down_advice: str = ""

    @property
    def since_s(self) -> float | None:
        """How long it has been up or down."""
        return self.down_s if self.down_reason else self.uptime_s

    @property
    def received(self) -> int | None:
        """Prefixes received, over all families."""
        return _total(family.received for family in self.families)

    @property
    def sent(self) -> int | None:
        """Prefixes sent, over all families."""
        return _total(family.sent for family in self.families)


def _total(counts: Iterable[Any]) -> int | None:
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known else None


_FAMILIES = {"ipv4_unicast": "IPv4 unicast", "ipv6_unicast": "IPv6 unicast"}


def bgp_sessions(answer: BgpState) -> dict[str, SessionState]:
    """Sessions by address."""
    return {address: bgp_session(address, one) for address, one in answer.neighbors.items()}


def bgp_session(address: str, one: BgpNeighborState) -> SessionState:
    """One session; where the answer has FRR's own detail, it includes the prefixes that passed policy."""
    known = one.detail.get("addressFamilyInfo") or {} if isinstance(one, BgpNeighborDetail) else {}
    families = tuple(
        FamilyState(
            name=_FAMILIES.get(name, name),
            received=counts.prefixes_received,
            accepted=(known.get(name.replace("_unicast", "Unicast")) or {}).get("acceptedPrefixCounter"),
            sent=counts.prefixes_sent,
        )
        for name, counts in one.families.items()
    )
    return SessionState(
        address=address,
        state=one.state,
        uptime_s=_seconds(one.uptime_ms),
        remote_asn=one.remote_asn,
        description=one.description,
        families=families,
        down_s=_seconds(one.down_ms),
        down_reason=one.down_reason or "",
        down_advice=one.down_advice or "",
    )


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


@dataclass(frozen=True)
class OspfRow:
    """A live OSPF neighbor."""

    router_id: str
    address: str
    interface: str
    state: str
    uptime_s: float | None
    dead_in_s: float | None


def ospf_neighbors(answer: OspfState) -> list[OspfRow]:
    """Neighbors, in the answer's order."""
    return [
        OspfRow(
            router_id=one.router_id,
            address=one.address or "",
            interface=one.interface,
            state=one.state.lower(),
            uptime_s=_seconds(one.uptime_ms),
            dead_in_s=_seconds(one.dead_in_ms),
        )
        for one in answer.neighbors
    ]
