"""From FRR's JSON to the answers the agent gives. FRR's text is untrusted; only known fields pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from appliance.state.bgp import BgpNeighborState, BgpState, PrefixCounts
from appliance.state.ospf import OspfAreaState, OspfInterfaceState, OspfNeighborState, OspfState
from appliance.state.routes import RibHop, RouteCount
from frr_config.protocols.bgp.session import ESTABLISHED, state_of, why_down

Json = Mapping[str, Any]
Family = Literal["ipv4", "ipv6"]
FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
_BGP = ("ebgp", "ibgp")
"""Protocols that the summary counts separately but that are one everywhere else."""


@dataclass(frozen=True, slots=True)
class RibRow:
    """One route of zebra's table."""

    prefix: str
    protocol: str
    next_hops: tuple[RibHop, ...] = ()
    selected: bool = True
    """Of several routes of a prefix, one is."""
    installed: bool = False
    distance: int | None = None
    metric: int | None = None
    tag: int | None = None
    uptime: str | None = None


@dataclass(frozen=True)
class FedPage:
    """A page of the routes that FRR sent to the feeder."""

    total: int
    rows: Sequence[RibRow]
    age_s: float = 0.0
    """Later routes are missing."""


def rib_counts(summary: Json) -> dict[str, RouteCount]:
    """Routes by protocol, out of zebra's summary; protocols without a route are left out."""
    counts: dict[str, tuple[int, int]] = {}
    for entry in summary.get("routes") or ():
        name = "bgp" if entry.get("type") in _BGP else str(entry.get("type", ""))
        rib, fib = counts.get(name, (0, 0))
        counts[name] = (rib + int(entry.get("rib", 0)), fib + int(entry.get("fib", 0)))
    return {name: RouteCount(rib=rib, fib=fib) for name, (rib, fib) in counts.items() if rib}


def rib_rows(items: Iterable[Json]) -> Iterator[RibRow]:
    """One row for each route of zebra's table: a prefix may have several, of which one is selected."""
    for item in (route for prefix in items for route in prefix["routes"]):
        yield RibRow(
            prefix=str(item.get("prefix", "")),
            protocol=str(item.get("protocol", "")),
            next_hops=tuple(_next_hop(hop) for hop in item.get("nexthops", [])),
            selected=bool(item.get("selected", False)),
            installed=bool(item.get("installed", False)),
            distance=item.get("distance", 0),
            metric=item.get("metric", 0),
            tag=item.get("tag"),
            uptime=item.get("uptime"),
        )


def _next_hop(hop: Json) -> RibHop:
    return RibHop(
        address=hop.get("ip"),
        interface=hop.get("interfaceName"),
        weight=hop.get("weight", 1),
        active=bool(hop.get("active", False)),
        recursive=bool(hop.get("recursive", False)),
        blackhole=bool(hop.get("unreachable", False) or hop.get("blackhole", False)),
    )


def bgp_state(summary: Json, neighbors: Json) -> BgpState:
    """The instance's numbers, and each neighbor by address."""
    asn: int | None = None
    router_id: str | None = None
    families: dict[str, dict[str, Json]] = {}
    for name, family in summary.items():
        if not isinstance(family, Mapping) or "peers" not in family:
            continue
        asn, router_id = family.get("as"), family.get("routerId")
        short = "ipv6_unicast" if "ipv6" in name.lower() else "ipv4_unicast"
        for address, peer in family["peers"].items():
            families.setdefault(address, {})[short] = peer
    rows = {
        address: bgp_neighbor(detail, families.get(address, {}))
        for address, detail in neighbors.items()
        if isinstance(detail, Mapping) and "bgpState" in detail
    }
    return BgpState(asn=asn, router_id=router_id, neighbors=rows)


def bgp_neighbor(detail: Json, families: Mapping[str, Json]) -> BgpNeighborState:
    """One neighbor, from FRR's data on it and its families."""
    messages = detail.get("messageStats") or {}
    state = state_of(detail)
    is_up = state == ESTABLISHED
    down = why_down(state, detail.get("lastResetDueTo"), detail.get("lastNotificationReason"))
    return BgpNeighborState(
        state=str(detail.get("bgpState", "")),
        remote_asn=detail.get("remoteAs"),
        local_asn=detail.get("localAs"),
        description=str(detail.get("nbrDesc", "")),
        peer_group=detail.get("peerGroup"),
        router_id=_unless_unknown(detail.get("remoteRouterId")),
        established_epoch_s=detail.get("bgpTimerUpEstablishedEpoch"),
        uptime_ms=detail.get("bgpTimerUpMsec"),
        hold_s=_seconds(detail.get("bgpTimerHoldTimeMsecs")),
        keepalive_s=_seconds(detail.get("bgpTimerKeepAliveIntervalMsecs")),
        messages_received=messages.get("totalRecv"),
        messages_sent=messages.get("totalSent"),
        last_reset=_last_reset(detail),
        down_ms=None if is_up else detail.get("lastResetTimerMsecs"),
        down_reason=None if is_up else down.reason,
        down_advice=None if is_up else down.advice,
        families={name: _counts(detail, name, peer) for name, peer in _families(detail, families)},
    )


def _unless_unknown(router_id: str | None) -> str | None:
    """bgpd shows 0.0.0.0 until the neighbor has sent it, and again after the session is lost."""
    return None if router_id == "0.0.0.0" else router_id


def _last_reset(detail: Json) -> str | None:
    """Why a session was lost; bgpd reports separately that a notification ended it, and which."""
    due_to = detail.get("lastResetDueTo")
    notification = detail.get("lastNotificationReason")
    return f"{due_to}: {notification}" if due_to and notification else due_to


def _families(detail: Json, families: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    known = detail.get("addressFamilyInfo") or {}
    for name, long in (("ipv4_unicast", "ipv4Unicast"), ("ipv6_unicast", "ipv6Unicast")):
        if name in families or long in known:
            yield name, families.get(name, {})


def _counts(detail: Json, name: str, peer: Json) -> PrefixCounts:
    information = (detail.get("addressFamilyInfo") or {}).get(name.replace("_unicast", "Unicast")) or {}
    return PrefixCounts(
        prefixes_received=peer.get("pfxRcd", information.get("acceptedPrefixCounter")),
        prefixes_sent=peer.get("pfxSnt", information.get("sentPrefixCounter")),
    )


def _seconds(milliseconds: Any) -> int | None:
    return int(milliseconds) // 1000 if isinstance(milliseconds, int) else None


def ospf_state(summary: Json, interfaces: Json, neighbors: Json) -> OspfState:
    """Router id, areas, interfaces and neighbors."""
    areas = summary.get("areas") or {}
    return OspfState(
        router_id=summary.get("routerId"),
        areas={
            str(area): OspfAreaState(
                interfaces=detail.get("areaIfTotalCounter"),
                neighbors=detail.get("nbrFullAdjacentCounter"),
                lsas=detail.get("lsaNumber"),
            )
            for area, detail in areas.items()
            if isinstance(detail, Mapping)
        },
        interfaces={
            str(name): OspfInterfaceState(
                area=detail.get("area"),
                state=detail.get("state"),
                type=detail.get("networkType"),
                cost=detail.get("cost"),
                up=bool(detail.get("ifUp", False)),
                neighbors=detail.get("nbrCount"),
                neighbors_full=detail.get("nbrAdjacentCount"),
            )
            for name, detail in (interfaces.get("interfaces") or {}).items()
            if isinstance(detail, Mapping)
        },
        neighbors=tuple(ospf_neighbors(neighbors)),
    )


def ospf_neighbors(neighbors: Json) -> Iterator[OspfNeighborState]:
    """Each neighbor, out of ``show ip ospf neighbor detail json``."""
    for router_id, entries in (neighbors.get("neighbors") or {}).items():
        for entry in entries if isinstance(entries, list) else [entries]:
            # Releases 8.4 and 10 name the same things differently.
            state = str(entry.get("nbrState") or entry.get("converged") or entry.get("state", ""))
            yield OspfNeighborState(
                router_id=str(router_id),
                address=entry.get("ifaceAddress") or entry.get("address"),
                interface=str(entry.get("ifaceName", "")).split(":")[0],
                state=state,
                full=state.startswith("Full"),
                dead_in_ms=entry.get("routerDeadIntervalTimerDueMsec") or entry.get("deadTimeMsecs"),
                priority=entry.get("nbrPriority", entry.get("priority")),
                uptime_ms=entry.get("lastPrgrsvChangeMsec"),
            )
