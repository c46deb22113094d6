"""From FRR's JSON to the rows the agent shows. FRR's text is untrusted; only known fields pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Json = Mapping[str, Any]
Family = Literal["ipv4", "ipv6"]
_BGP = ("ebgp", "ibgp")
"""What the summary counts apart is one protocol everywhere else."""


@dataclass(frozen=True, slots=True)
class RibCount:
    """Routes of one protocol: in zebra's table, and of these the ones it has installed."""

    rib: int
    fib: int


def rib_counts(summary: Json) -> dict[str, RibCount]:
    """Routes by protocol, out of zebra's summary; protocols without a route are left out."""
    counts: dict[str, RibCount] = {}
    for entry in summary.get("routes") or ():
        name = "bgp" if entry.get("type") in _BGP else str(entry.get("type", ""))
        known = counts.get(name, RibCount(0, 0))
        counts[name] = RibCount(known.rib + int(entry.get("rib", 0)), known.fib + int(entry.get("fib", 0)))
    return {name: count for name, count in counts.items() if count.rib}


def rib_rows(items: Iterable[Json]) -> Iterator[dict[str, Any]]:
    """One row for each route of zebra's table: a prefix may have several, of which one is selected."""
    for item in (route for prefix in items for route in prefix["routes"]):
        yield {
            "prefix": str(item.get("prefix", "")),
            "protocol": str(item.get("protocol", "")),
            "selected": bool(item.get("selected", False)),
            "installed": bool(item.get("installed", False)),
            "distance": item.get("distance", 0),
            "metric": item.get("metric", 0),
            "tag": item.get("tag"),
            "uptime": item.get("uptime"),
            "next_hops": [_next_hop(hop) for hop in item.get("nexthops", [])],
        }


def _next_hop(hop: Json) -> dict[str, Any]:
    return {
        "address": hop.get("ip"),
        "interface": hop.get("interfaceName"),
        "weight": hop.get("weight", 1),
        "active": bool(hop.get("active", False)),
        "recursive": bool(hop.get("recursive", False)),
        "blackhole": bool(hop.get("unreachable", False) or hop.get("blackhole", False)),
    }


def bgp_rows(summary: Json, neighbors: Json) -> dict[str, Any]:
    """The instance's numbers, and each neighbor by address."""
    instance: dict[str, Any] = {"asn": None, "router_id": None}
    families: dict[str, dict[str, Json]] = {}
    for name, family in summary.items():
        if not isinstance(family, Mapping) or "peers" not in family:
            continue
        instance = {"asn": family.get("as"), "router_id": family.get("routerId")}
        short = "ipv6_unicast" if "ipv6" in name.lower() else "ipv4_unicast"
        for address, peer in family["peers"].items():
            families.setdefault(address, {})[short] = peer
    rows = {
        address: _bgp_neighbor(detail, families.get(address, {}))
        for address, detail in neighbors.items()
        if isinstance(detail, Mapping) and "bgpState" in detail
    }
    return {**instance, "neighbors": rows}


def _bgp_neighbor(detail: Json, families: Mapping[str, Json]) -> dict[str, Any]:
    messages = detail.get("messageStats") or {}
    return {
        "state": str(detail.get("bgpState", "")),
        "remote_asn": detail.get("remoteAs"),
        "local_asn": detail.get("localAs"),
        "description": str(detail.get("nbrDesc", "")),
        "peer_group": detail.get("peerGroup"),
        "router_id": detail.get("remoteRouterId"),
        "established_epoch_s": detail.get("bgpTimerUpEstablishedEpoch"),
        "uptime_ms": detail.get("bgpTimerUpMsec"),
        "hold_s": _seconds(detail.get("bgpTimerHoldTimeMsecs")),
        "keepalive_s": _seconds(detail.get("bgpTimerKeepAliveIntervalMsecs")),
        "messages_received": messages.get("totalRecv"),
        "messages_sent": messages.get("totalSent"),
        "last_reset": detail.get("lastResetDueTo"),
        "families": {name: _family(detail, name, peer) for name, peer in _families(detail, families)},
    }


def _families(detail: Json, families: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    known = detail.get("addressFamilyInfo") or {}
    for name, long in (("ipv4_unicast", "ipv4Unicast"), ("ipv6_unicast", "ipv6Unicast")):
        if name in families or long in known:
            yield name, families.get(name, {})


def _family(detail: Json, name: str, peer: Json) -> dict[str, Any]:
    information = (detail.get("addressFamilyInfo") or {}).get(name.replace("_unicast", "Unicast")) or {}
    return {
        "prefixes_received": peer.get("pfxRcd", information.get("acceptedPrefixCounter")),
        "prefixes_sent": peer.get("pfxSnt", information.get("sentPrefixCounter")),
    }


def _seconds(milliseconds: Any) -> int | None:
    return int(milliseconds) // 1000 if isinstance(milliseconds, int) else None


def ospf_state(summary: Json, interfaces: Json, neighbors: Json) -> dict[str, Any]:
    """Router id, areas, interfaces and neighbors."""
    areas = summary.get("areas") or {}
    return {
        "router_id": summary.get("routerId"),
        "areas": {
            str(area): {
                "interfaces": detail.get("areaIfTotalCounter"),
                "neighbors": detail.get("nbrFullAdjacentCounter"),
                "lsas": detail.get("lsaNumber"),
            }
            for area, detail in areas.items()
            if isinstance(detail, Mapping)
        },
        "interfaces": {
            str(name): {
                "area": detail.get("area"),
                "state": detail.get("state"),
                "type": detail.get("networkType"),
                "cost": detail.get("cost"),
                "up": bool(detail.get("ifUp", False)),
                "neighbors": detail.get("nbrCount"),
                "neighbors_full": detail.get("nbrAdjacentCount"),
            }
            for name, detail in (interfaces.get("interfaces") or {}).items()
            if isinstance(detail, Mapping)
        },
        "neighbors": list(_ospf_neighbors(neighbors)),
    }


def _ospf_neighbors(neighbors: Json) -> Iterator[dict[str, Any]]:
    for router_id, entries in (neighbors.get("neighbors") or {}).items():
        for entry in entries if isinstance(entries, list) else [entries]:
            # 8.4 and 10 name the same things differently.
            state = str(entry.get("nbrState") or entry.get("converged") or entry.get("state", ""))
            yield {
                "router_id": str(router_id),
                "address": entry.get("ifaceAddress") or entry.get("address"),
                "interface": str(entry.get("ifaceName", "")).split(":")[0],
                "state": state,
                "full": state.startswith("Full"),
                "dead_in_ms": entry.get("routerDeadIntervalTimerDueMsec") or entry.get("deadTimeMsecs"),
                "priority": entry.get("nbrPriority", entry.get("priority")),
                "uptime_ms": entry.get("lastPrgrsvChangeMsec"),
            }
