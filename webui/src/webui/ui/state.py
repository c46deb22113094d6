"""What the agent says of the live router, as pages show it.

Any string of a neighbor, a route or a session may have been chosen by another router: shown escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Json = Any


def rows(answer: Json, part: str) -> list[dict[str, Any]]:
    """The list of things an answer has under `part`."""
    found = answer.get(part) if isinstance(answer, Mapping) else None
    return [dict(one) for one in found or () if isinstance(one, Mapping)] if isinstance(found, list) else []


def by_name(answer: Json, part: str) -> dict[str, dict[str, Any]]:
    """The same by name, whether it is a list of named things or a mapping."""
    found = answer.get(part) if isinstance(answer, Mapping) else None
    if isinstance(found, Mapping):
        return {str(name): dict(value) for name, value in found.items() if isinstance(value, Mapping)}
    return {str(one["name"]): one for one in rows(answer, part) if "name" in one}


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

    @property
    def received(self) -> int | None:
        """Prefixes received, of all families."""
        return _total(family.received for family in self.families)

    @property
    def sent(self) -> int | None:
        """Prefixes sent, of all families."""
        return _total(family.sent for family in self.families)


def _total(counts: Iterable[Any]) -> int | None:
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known else None


_FAMILIES = {"ipv4_unicast": "IPv4 unicast", "ipv6_unicast": "IPv6 unicast"}


def bgp_sessions(answer: Json) -> dict[str, SessionState]:
    """Sessions by address."""
    return {address: bgp_session(address, one) for address, one in by_name(answer, "neighbors").items()}


def bgp_session(address: str, one: Mapping[str, Any]) -> SessionState:
    """One session; where the answer has FRR's own detail, what passed policy is known as well."""
    detail = one.get("detail")
    known = detail.get("addressFamilyInfo", {}) if isinstance(detail, Mapping) else {}
    families = tuple(
        FamilyState(
            name=_FAMILIES.get(name, name),
            received=counts.get("prefixes_received"),
            accepted=(known.get(name.replace("_unicast", "Unicast")) or {}).get("acceptedPrefixCounter"),
            sent=counts.get("prefixes_sent"),
        )
        for name, counts in (one.get("families") or {}).items()
    )
    return SessionState(
        address=address,
        state=str(one.get("state") or ""),
        uptime_s=_seconds(one.get("uptime_ms")),
        remote_asn=one.get("remote_asn"),
        description=str(one.get("description") or ""),
        families=families,
    )


def _seconds(milliseconds: Any) -> float | None:
    return milliseconds / 1000 if isinstance(milliseconds, (int, float)) else None


@dataclass(frozen=True)
class OspfNeighborState:
    """A live OSPF neighbor."""

    router_id: str
    address: str
    interface: str
    state: str
    uptime_s: float | None
    dead_in_s: float | None


def ospf_neighbors(answer: Json) -> list[OspfNeighborState]:
    """Neighbors, in the answer's order."""
    return [
        OspfNeighborState(
            router_id=str(one.get("router_id") or ""),
            address=str(one.get("address") or ""),
            interface=str(one.get("interface") or ""),
            state=str(one.get("state") or "").lower(),
            uptime_s=_seconds(one.get("uptime_ms")),
            dead_in_s=_seconds(one.get("dead_in_ms")),
        )
        for one in rows(answer, "neighbors")
    ]
