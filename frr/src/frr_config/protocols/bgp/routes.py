"""Routes of bgpd's table with all their attributes. Every string is untrusted: neighbors choose some of them.

bgpd is single-threaded. A question about one prefix costs it the same whatever the size of its table.
``table`` and ``kept`` walk the whole table, which takes 2 s for 1,000,000 routes before anything is written:
ask ``size`` first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from frr_config.state import Family, State
from frr_config.types import IpAddress, IpNetwork

Json = Mapping[str, Any]
_OWN = ("0.0.0.0", "::")
"""Stands for the neighbor where the route is this router's own."""
_ORIGINS = {"i": "IGP", "e": "EGP", "?": "incomplete"}


@dataclass(frozen=True, slots=True)
class BgpPath:
    """A route as one neighbor sent it and the policy left it; None is an attribute that bgpd does not
    show.
    """

    neighbor: str
    """Its address; empty for a route of this router."""
    next_hop: str | None = None
    as_path: str = ""
    """As bgpd prints it; empty for a route of this router or of its own AS."""
    origin: str | None = None
    med: int | None = None
    local_preference: int | None = None
    weight: int | None = None
    communities: tuple[str, ...] | None = ()
    large_communities: tuple[str, ...] | None = ()
    extended_communities: tuple[str, ...] | None = ()
    is_internal: bool = False
    """Learned by iBGP."""
    is_best: bool = False
    is_valid: bool = True
    since_epoch_s: int | None = None


@dataclass(frozen=True, slots=True)
class BgpEntry:
    """A prefix of the table."""

    network: IpNetwork
    advertised_to: frozenset[str]
    """Addresses of neighbors."""
    paths: tuple[BgpPath, ...]

    def of(self, neighbor: str) -> tuple[BgpPath, ...]:
        """The paths that came from a neighbor."""
        return tuple(path for path in self.paths if path.neighbor == neighbor)

    @property
    def best(self) -> BgpPath | None:
        """The path that is used and advertised."""
        return next((path for path in self.paths if path.is_best), None)


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The routes currently exchanged with a neighbor in a family."""

    is_up: bool
    is_internal: bool
    received: int | None
    """Accepted prefixes."""
    sent: int | None


@dataclass(frozen=True, slots=True)
class TableSize:
    """The size of a family's table, from counters that bgpd maintains."""

    nodes: int = 0
    """Nodes of the tree that holds the table: up to twice its prefixes."""
    received: int = 0
    """Paths from all neighbors."""
    sent: int = 0
    """Prefixes sent to neighbors, counted once for each neighbor."""
    neighbors: Mapping[str, Exchanged] = field(default_factory=dict)


def size(frr: State, family: Family) -> TableSize:
    """The size of a family's table; bgpd walks no table for it."""
    summary = frr.bgp_summary().get(f"{family}Unicast")
    if not isinstance(summary, Mapping):
        return TableSize()
    own_asn = summary.get("as")
    peers = {
        str(name): peer for name, peer in (summary.get("peers") or {}).items() if isinstance(peer, Mapping)
    }
    return TableSize(
        nodes=int(summary.get("ribCount") or 0),
        received=sum(int(peer.get("pfxRcd") or 0) for peer in peers.values()),
        sent=sum(int(peer.get("pfxSnt") or 0) for peer in peers.values()),
        neighbors={
            _plain(name): Exchanged(
                peer.get("state") == "Established",
                peer.get("remoteAs") == peer.get("localAs", own_asn),
                peer.get("pfxRcd"),
                peer.get("pfxSnt"),
            )
            for name, peer in peers.items()
        },
    )


def entry(frr: State, destination: IpAddress | IpNetwork) -> BgpEntry | None:
    """The entry of exactly this prefix, or the longest match for an address."""
    family = "ipv4" if destination.version == 4 else "ipv6"
    shown = frr.json("bgpd", f"show bgp {frr.vrf_words}{family} unicast {destination} json")
    return _entry(str(shown["prefix"]), shown) if "prefix" in shown else None


def table(frr: State, family: Family) -> Iterator[BgpEntry]:
    """Every prefix with an accepted path. bgpd walks its table and writes all of it."""
    for prefix, value in frr.members(
        "bgpd", f"show bgp {frr.vrf_words}{family} unicast json detail", ("routes",)
    ):
        found = _entry(prefix, value)
        if found is not None:
            yield found


def kept(frr: State, family: Family, neighbor: IpAddress) -> Iterator[tuple[IpNetwork, BgpPath]]:
    """The routes that a neighbor sent, refused or not, where bgpd keeps them
    (``soft_reconfiguration_inbound``).

    The attributes are those after the neighbor's route map, for refused routes too; bgpd does not show
    communities here. It walks its table and writes every route it keeps.
    """
    command = f"show bgp {frr.vrf_words}{family} unicast neighbors {neighbor} received-routes json"
    for prefix, value in frr.members("bgpd", command, ("receivedRoutes",)):
        if "/" in prefix and isinstance(value, Mapping):
            yield (
                ip_network(prefix),
                BgpPath(
                    str(neighbor),
                    value.get("nextHop") or value.get("nextHopGlobal"),
                    _as_path(value.get("path")),
                    _ORIGINS.get(str(value.get("bgpOriginCode"))),
                    value.get("metric"),
                    value.get("locPrf"),
                    value.get("weight"),
                    communities=None,
                    large_communities=None,
                    extended_communities=None,
                ),
            )


def _entry(prefix: str, shown: Any) -> BgpEntry | None:
    """An entry from either form: an object with ``paths``, or (8.4's list) a head followed by paths."""
    head, paths = (shown, shown.get("paths")) if isinstance(shown, Mapping) else (shown[0], shown[1:])
    if "/" not in prefix or not isinstance(head, Mapping) or not paths:
        return None
    return BgpEntry(
        ip_network(prefix),
        frozenset(_plain(str(name)) for name in head.get("advertisedTo") or ()),
        tuple(_path(path) for path in paths if isinstance(path, Mapping)),
    )


def _path(shown: Json) -> BgpPath:
    peer: Json = shown.get("peer") or {}
    neighbor = _plain(str(peer.get("peerId", "")))
    return BgpPath(
        neighbor="" if neighbor in _OWN else neighbor,
        next_hop=_next_hop(shown.get("nexthops") or ()),
        as_path=_as_path((shown.get("aspath") or {}).get("string")),
        origin=shown.get("origin"),
        med=shown.get("metric", shown.get("med")),
        local_preference=shown.get("locPrf"),
        weight=shown.get("weight"),
        communities=_words(shown.get("community")),
        large_communities=_words(shown.get("largeCommunity")),
        extended_communities=_words(shown.get("extendedCommunity")),
        is_internal=peer.get("type") == "internal",
        is_best=bool((shown.get("bestpath") or {}).get("overall")),
        is_valid=bool(shown.get("valid")),
        since_epoch_s=(shown.get("lastUpdate") or {}).get("epoch"),
    )


def _next_hop(hops: Any) -> str | None:
    """The global next hop where an IPv6 route also has a link-local one; None for a route of this router."""
    found = [str(hop["ip"]) for hop in hops if isinstance(hop, Mapping) and "ip" in hop]
    addresses = [address for address in found if address not in _OWN]
    return next(
        (one for one in addresses if not one.startswith("fe80:")), addresses[0] if addresses else None
    )


def _as_path(text: Any) -> str:
    return "" if text in (None, "Local") else str(text)


def _words(shown: Any) -> tuple[str, ...]:
    return tuple(str(shown.get("string", "")).split()) if isinstance(shown, Mapping) else ()


def _plain(address: str) -> str:
    """The address in canonical form; a session without an address is named by its interface."""
    try:
        return str(ip_address(address))
    except ValueError:
        return address
