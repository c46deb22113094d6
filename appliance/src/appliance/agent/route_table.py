"""RIB, kernel and FIB side by side: where a packet goes, and where the three disagree.

A question for a prefix or an address costs each of the three the same whatever the size of its table. Only
the list of routes needs a walk, of the RIB alone: see ``route_lists``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from appliance.agent.requests import RoutesQuery
from appliance.agent.route_lists import LISTED, RouteLists
from appliance.agent.router import RoutingView
from appliance.dataplane.base import DataPlane
from appliance.dataplane.route_answer import Entry, RouteAnswer, Untold
from appliance.engine.backend import BackendUnavailable
from appliance.routing.rows import Family

Row = Mapping[str, Any]
FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
_EXTERNAL = {"kernel", "connected", "local"}
_OWN_KINDS = {"local", "broadcast", "multicast"}
"""Entries that a table makes for itself."""
_DROPS = {"blackhole", "unreachable", "prohibit"}


def is_list(query: RoutesQuery) -> bool:
    """Whether the question is for many routes."""
    return query.prefix is None or query.within


def route(query: RoutesQuery, dataplane: DataPlane, routing: RoutingView) -> dict[str, Any]:
    """The answer for one prefix or address. Raises BackendUnavailable when the RIB cannot be asked."""
    destination = _destination(query)
    known = list(routing.rib_entry(destination))
    rows = [row for row in known if row.get("selected", True)][:1] or known[:1]
    (kernel,), (fib,) = _ask(dataplane, [destination])
    shown = [side_by_side(row, kernel, fib, destination) for row in rows]
    if not rows and any(_is_route(answer) for answer in (kernel, fib)):
        shown = [_unknown_to_the_rib(destination, kernel, fib)]
    note = ""
    if query.protocol is not None and shown and shown[0]["protocol"] != query.protocol:
        note = f"The route of {destination} is not of protocol {query.protocol}."
        shown = []
    return _answer(query, shown, len(shown), note=note)


def routes(query: RoutesQuery, dataplane: DataPlane, lists: RouteLists) -> dict[str, Any]:
    """One page of the list, an entry for each prefix that the RIB has selected a route for.

    What is not listed is counted and said. Raises BackendUnavailable when the RIB cannot be asked.
    """
    within = None if query.prefix is None else ip_network(query.prefix)
    families: Sequence[Family] = FAMILIES if query.family is None else (query.family,)
    if within is not None:
        families = ("ipv6",) if within.version == 6 else ("ipv4",)
    read = {family: lists.read(family, query.protocol) for family in families}
    rows = [row for listed in read.values() for row in listed.rows or () if _inside(row, within)]
    page = rows[query.offset : query.offset + query.limit]
    kernel, fib = _ask(dataplane, [str(row["prefix"]) for row in page])
    shown = [
        side_by_side(row, known, forwards, str(row["prefix"]))
        for row, known, forwards in zip(page, kernel, fib, strict=True)
    ]
    return _answer(
        query,
        shown,
        len(rows),
        note=" ".join(dict.fromkeys(listed.note for listed in read.values() if listed.note)),
        counts={
            family: {name: {"rib": count.rib, "fib": count.fib} for name, count in listed.counts.items()}
            for family, listed in read.items()
        },
        unlisted={family: listed.count for family, listed in read.items() if listed.rows is None},
        age_s=round(max(lists.age_s(listed) for listed in read.values()), 1),
    )


def side_by_side(rib: Row, kernel: RouteAnswer, fib: RouteAnswer, destination: str) -> dict[str, Any]:
    """One route in all three tables; ``disagreement`` is a sentence, empty when they are consistent."""
    disagreement = _disagreement(rib, kernel, fib, destination)
    return {
        "prefix": rib["prefix"],
        "family": "ipv6" if ":" in rib["prefix"] else "ipv4",
        "protocol": rib["protocol"],
        "distance": rib.get("distance"),
        "metric": rib.get("metric"),
        "uptime": rib.get("uptime"),
        "rib": list(rib["next_hops"]),
        **_tables(kernel, fib),
        "consistent": not disagreement,
        "disagreement": disagreement,
    }


def _unknown_to_the_rib(destination: str, kernel: RouteAnswer, fib: RouteAnswer) -> dict[str, Any]:
    """A route that a table has and FRR has not; what tables make for themselves needs no FRR."""
    entries = [answer for answer in (kernel, fib) if isinstance(answer, Entry)]
    own = all(entry.kind in _OWN_KINDS for entry in entries)
    disagreement = "" if own else f"FRR has no route {_to(destination)}"
    prefix = next((entry.prefix for entry in entries if entry.prefix is not None), destination)
    return {
        "prefix": prefix,
        "family": "ipv6" if ":" in prefix else "ipv4",
        "protocol": "",
        "distance": None,
        "metric": None,
        "uptime": None,
        "rib": None,
        **_tables(kernel, fib),
        "consistent": not disagreement,
        "disagreement": disagreement,
    }


def _answer(query: RoutesQuery, shown: list[dict[str, Any]], total: int, **more: Any) -> dict[str, Any]:
    told = {"note": "", "counts": {}, "unlisted": {}, "age_s": 0.0, "list_limit": LISTED, **more}
    return {"routes": shown, "total": total, "offset": query.offset, "limit": query.limit, **told}


def _destination(query: RoutesQuery) -> str:
    """An address for the longest match, a prefix for its own entry."""
    assert query.prefix is not None
    if "/" not in query.prefix:
        return query.prefix
    return query.prefix.partition("/")[0] if query.longest else query.prefix


def _ask(
    dataplane: DataPlane, destinations: list[str]
) -> tuple[Sequence[RouteAnswer], Sequence[RouteAnswer]]:
    """The kernel's answers and the FIB's. A table that cannot be asked says why in each."""
    kernel = _asked(dataplane.kernel_routes, destinations)
    # In the linux data plane the kernel's table is the FIB.
    return kernel, kernel if dataplane.name == "linux" else _asked(dataplane.fib, destinations)


def _asked(
    question: Callable[[Sequence[str]], Sequence[RouteAnswer]], destinations: list[str]
) -> Sequence[RouteAnswer]:
    try:
        return question(destinations)
    except BackendUnavailable as error:
        return [Untold(f"not asked: {error}")] * len(destinations)


def _inside(row: Row, within: IPv4Network | IPv6Network | None) -> bool:
    if within is None:
        return True
    network = ip_network(str(row["prefix"]))
    return network.prefixlen >= within.prefixlen and network.network_address in within


def _tables(kernel: RouteAnswer, fib: RouteAnswer) -> dict[str, Any]:
    """``kernel`` and ``fib``: next hops, or null for none; ``untold`` says why where a table did not tell."""
    answers = {"kernel": kernel, "fib": fib}
    return {
        **{name: _shown(answer) for name, answer in answers.items()},
        "untold": {name: answer.reason for name, answer in answers.items() if isinstance(answer, Untold)},
    }


def _shown(answer: RouteAnswer) -> list[dict[str, Any]] | None:
    if not isinstance(answer, Entry):
        return None
    if not answer.next_hops:
        return [{"address": None, "interface": None, "kind": answer.kind}]
    return [
        {"address": hop.address, "interface": hop.interface, "weight": hop.weight} for hop in answer.next_hops
    ]


def _is_route(answer: RouteAnswer) -> bool:
    """Whether packets go somewhere by it; what drops is as good as no route."""
    return isinstance(answer, Entry) and answer.kind not in _DROPS


def _disagreement(rib: Row, kernel: RouteAnswer, fib: RouteAnswer, destination: str) -> str:
    if not rib.get("selected", True):
        return "FRR has this prefix and has selected no route for it"
    for name, answer in (("the kernel", kernel), ("the data plane", fib)):
        said = _differs(rib, answer, destination)
        if said:
            return f"{name} {said}"
    return ""


def _differs(rib: Row, answer: RouteAnswer, destination: str) -> str:
    if isinstance(answer, Untold):
        return ""
    wanted, dropped = _hops(rib), _is_dropped(rib)
    if answer is None:
        return f"has no route {_to(destination)}"
    # Whoever is connected or local is reached without a next hop, each table in its own words.
    if rib["protocol"] in _EXTERNAL or answer.kind in _OWN_KINDS:
        return ""
    if answer.kind in _DROPS:
        return "" if dropped else f"drops what is sent {_to(destination)}"
    if answer.prefix not in (None, rib["prefix"]):
        return f"takes {answer.prefix} for it"
    has = {hop.address for hop in answer.next_hops if hop.address is not None}
    if has and has != wanted and (wanted or dropped):
        return f"sends it to {', '.join(sorted(has))}"
    return ""


def _to(destination: str) -> str:
    return f"for {destination}" if "/" in destination else f"to {destination}"


def _is_dropped(rib: Row) -> bool:
    return any(hop.get("blackhole") for hop in rib["next_hops"])


def _hops(row: Row) -> set[str]:
    """Addresses of the next hops that are in use."""
    return {
        str(hop["address"])
        for hop in row["next_hops"]
        if hop.get("address") and hop.get("active", True) and not hop.get("recursive", False)
    }
