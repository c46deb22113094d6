"""Routes as the feeder reports them: its questions and answers, in the words of the RIB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.routing.rows import Family, FedPage, RibRow
from appliance.state.routes import RibHop, RouteCount, RoutesQuery

_PROTOCOLS = {
    4: "static",
    186: "bgp",
    187: "isis",
    188: "ospf",
    189: "rip",
    191: "nhrp",
    192: "eigrp",
    194: "sharp",
    195: "pbr",
    196: "static",
    197: "openfabric",
    198: "srte",
}
"""Zebra's words by the number it gives Linux (RTPROT_*); both OSPFs share one number, and so do both RIPs."""
_OF_IPV6 = {"ospf": "ospf6", "rip": "ripng"}
_NUMBERS = {name: number for number, name in _PROTOCOLS.items()} | {"ospf6": 188, "ripng": 189}
_NO_PROTOCOL = 255
"""The number for a word that FRR does not have: no route has it."""


def page_question(family: Family, query: RoutesQuery, offset: int, limit: int, table: int = 0) -> str:
    """The question to the feeder for the requested page of the list."""
    words = [f"routes {family} offset={offset} limit={limit}"]
    if table:
        words.append(f"table={table}")
    if query.prefix is not None:
        words.append(f"within={query.prefix if '/' in query.prefix else _host(query.prefix)}")
    if query.next_hop is not None:
        words.append(f"via={query.next_hop}")
    if query.protocol is not None:
        words.append(f"protocol={_NUMBERS.get(query.protocol, _NO_PROTOCOL)}")
    return " ".join(words)


def read_page(family: Family, told: Mapping[str, Any]) -> FedPage:
    """The feeder's answer. Raises KeyError, TypeError, ValueError."""
    return FedPage(
        int(told["total"]), [_row(family, route) for route in told["routes"]], int(told["age_ms"]) / 1000
    )


def route_counts(family: Family, told: Mapping[str, Any]) -> dict[str, RouteCount]:
    """Counts of one family by protocol. Raises KeyError, TypeError, ValueError."""
    counts: dict[str, RouteCount] = {}
    for number, count in told.items():
        name = _protocol(family, int(number))
        before = counts.get(name, RouteCount(rib=0, fib=0))
        counts[name] = RouteCount(
            rib=before.rib + int(count["wanted"]), fib=before.fib + int(count["in_vpp"])
        )
    return counts


def _row(family: Family, route: Mapping[str, Any]) -> RibRow:
    return RibRow(
        prefix=str(route["prefix"]),
        protocol=_protocol(family, int(route["protocol"])),
        next_hops=tuple(_hop(hop) for hop in route["hops"]),
        installed=route["state"] == "in_vpp",
    )


def _hop(hop: Mapping[str, Any]) -> RibHop:
    return RibHop(
        address=hop.get("address"),
        interface=hop.get("interface"),
        weight=hop["weight"],
        active=True,
        blackhole="kind" in hop,
    )


def _protocol(family: Family, number: int) -> str:
    name = _PROTOCOLS.get(number, f"rtproto-{number}")
    return _OF_IPV6.get(name, name) if family == "ipv6" else name


def _host(address: str) -> str:
    return f"{address}/{128 if ':' in address else 32}"
