"""RIB, kernel and FIB side by side: where a packet goes, and where the three disagree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from appliance.agent.requests import RoutesQuery
from appliance.agent.router import RoutingView
from appliance.dataplane.base import DataPlane

COUNTED = 20_000
"""RIB entries that are looked through for one page; a larger table is searched by prefix."""
Row = Mapping[str, Any]
_EXTERNAL = {"kernel", "connected", "local"}


def routes(query: RoutesQuery, dataplane: DataPlane, routing: RoutingView) -> dict[str, Any]:
    """One page of ``routes``, one entry for each prefix that the RIB has selected a route for.

    ``total`` counts the whole answer, up to COUNTED. Raises BackendUnavailable.
    """
    selected = [
        row
        for row in islice(routing.rib(_asked(query), query.family), COUNTED)
        if row.get("selected", True) and query.protocol in (None, row["protocol"])
    ]
    page = selected[query.offset : query.offset + query.limit]
    kernel = _by_prefix(dataplane.kernel_routes(None, family) for family in _families(page))
    # In the linux data plane the kernel's table is the FIB.
    fib = (
        kernel
        if dataplane.name == "linux"
        else _by_prefix(dataplane.fib(row["prefix"], None) for row in page)
    )
    return {
        "routes": [side_by_side(row, kernel.get(row["prefix"]), fib.get(row["prefix"])) for row in page],
        "total": len(selected),
        "offset": query.offset,
        "limit": query.limit,
    }


def side_by_side(rib: Row, kernel: Row | None, fib: Row | None) -> dict[str, Any]:
    """One prefix in all three tables; ``disagreement`` is a sentence, empty when they are consistent."""
    disagreement = _disagreement(rib, kernel, fib)
    return {
        "prefix": rib["prefix"],
        "family": "ipv6" if ":" in rib["prefix"] else "ipv4",
        "protocol": rib["protocol"],
        "distance": rib.get("distance"),
        "metric": rib.get("metric"),
        "uptime": rib.get("uptime"),
        "rib": list(rib["next_hops"]),
        "kernel": None if kernel is None else _shown(kernel),
        "fib": None if fib is None else _shown(fib),
        "consistent": not disagreement,
        "disagreement": disagreement,
    }


def _asked(query: RoutesQuery) -> str | None:
    """For the longest match an address alone; else a prefix, an address meaning the host route."""
    if query.prefix is None:
        return None
    address, slash, length = query.prefix.partition("/")
    if query.longest:
        return address
    return f"{address}/{length}" if slash else f"{address}/{128 if ':' in address else 32}"


def _families(page: Iterable[Row]) -> list[str]:
    return sorted({"ipv6" if ":" in row["prefix"] else "ipv4" for row in page})


def _by_prefix(tables: Iterable[Iterable[Row]]) -> dict[str, Row]:
    return {str(row["prefix"]): row for table in tables for row in table}


def _shown(row: Row) -> list[Any]:
    hops: list[Any] = list(row["next_hops"])
    return hops or [{"address": None, "interface": None, "kind": row.get("kind", "")}]


def _disagreement(rib: Row, kernel: Row | None, fib: Row | None) -> str:
    wanted = _hops(rib)
    for name, row in (("the kernel", kernel), ("the data plane", fib)):
        if row is None:
            return f"{name} does not have this prefix"
        # Whoever is connected or local is reached without a next hop, each table in its own words.
        if rib["protocol"] in _EXTERNAL:
            continue
        has = _hops(row)
        if wanted and has and has != wanted:
            return f"{name} sends it to {', '.join(sorted(has))}"
    return ""


def _hops(row: Row) -> set[str]:
    """Addresses of the next hops that are in use."""
    return {
        str(hop["address"])
        for hop in row["next_hops"]
        if hop.get("address") and hop.get("active", True) and not hop.get("recursive", False)
    }
