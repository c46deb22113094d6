"""RIB, kernel and FIB side by side: where a packet goes, and where the three disagree.

A question for a prefix or an address costs each of the three the same whatever the size of its table. Only
the list of routes needs a walk, of the RIB alone: see ``route_lists``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network

from appliance.agent.route_lists import LISTED, RouteLists
from appliance.dataplane.base import DataPlane
from appliance.dataplane.route_answer import Entry, RouteAnswer, Untold
from appliance.engine.backend import BackendUnavailable
from appliance.routing.rows import Family, RibRow
from appliance.routing.view import RoutingView
from appliance.state.routes import RouteCount, Routes, RoutesQuery, RouteState, TableHop

FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
_EXTERNAL = {"kernel", "connected", "local"}
_OWN_KINDS = {"local", "broadcast", "multicast"}
"""Entries that a table makes for itself."""
_DROPS = {"blackhole", "unreachable", "prohibit"}


def route(query: RoutesQuery, dataplane: DataPlane, routing: RoutingView) -> Routes:
    """The answer for one prefix or address. Raises BackendUnavailable when the RIB cannot be asked."""
    destination = _destination(query)
    known = list(routing.rib_entry(destination))
    rows = [row for row in known if row.selected][:1] or known[:1]
    (kernel,), (fib,) = _ask(dataplane, [destination])
    shown = [side_by_side(row, kernel, fib, destination) for row in rows]
    if not rows and any(_is_route(answer) for answer in (kernel, fib)):
        shown = [_unknown_to_the_rib(destination, kernel, fib)]
    note = ""
    if query.protocol is not None and shown and shown[0].protocol != query.protocol:
        note = f"The route of {destination} is not of protocol {query.protocol}."
        shown = []
    return _answer(query, shown, len(shown), note=note)


def routes(query: RoutesQuery, dataplane: DataPlane, lists: RouteLists) -> Routes:
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
    return _answer(
        query,
        compared(dataplane, page),
        len(rows),
        note=" ".join(dict.fromkeys(listed.note for listed in read.values() if listed.note)),
        counts={family: dict(listed.counts) for family, listed in read.items()},
        unlisted={family: listed.count for family, listed in read.items() if listed.rows is None},
        age_s=round(max(lists.age_s(listed) for listed in read.values()), 1),
    )


def compared(dataplane: DataPlane, rows: Sequence[RibRow]) -> list[RouteState]:
    """Rows of the RIB beside kernel and FIB."""
    kernel, fib = _ask(dataplane, [row.prefix for row in rows])
    return [
        side_by_side(row, known, forwards, row.prefix)
        for row, known, forwards in zip(rows, kernel, fib, strict=True)
    ]


def side_by_side(rib: RibRow, kernel: RouteAnswer, fib: RouteAnswer, destination: str) -> RouteState:
    """One route in all three tables; ``disagreement`` is a sentence, empty when they are consistent."""
    disagreement = _disagreement(rib, kernel, fib, destination)
    return RouteState(
        prefix=rib.prefix,
        family=_family(rib.prefix),
        protocol=rib.protocol,
        distance=rib.distance,
        metric=rib.metric,
        uptime=rib.uptime,
        rib=rib.next_hops,
        kernel=_shown(kernel),
        fib=_shown(fib),
        untold=_untold(kernel, fib),
        consistent=not disagreement,
        disagreement=disagreement,
    )


def _unknown_to_the_rib(destination: str, kernel: RouteAnswer, fib: RouteAnswer) -> RouteState:
    """A route that a table has and FRR has not; what tables make for themselves needs no FRR."""
    entries = [answer for answer in (kernel, fib) if isinstance(answer, Entry)]
    own = all(entry.kind in _OWN_KINDS for entry in entries)
    disagreement = "" if own else f"FRR has no route {_to(destination)}"
    prefix = next((entry.prefix for entry in entries if entry.prefix is not None), destination)
    return RouteState(
        prefix=prefix,
        family=_family(prefix),
        protocol="",
        kernel=_shown(kernel),
        fib=_shown(fib),
        untold=_untold(kernel, fib),
        consistent=not disagreement,
        disagreement=disagreement,
    )


def _family(prefix: str) -> Family:
    return "ipv6" if ":" in prefix else "ipv4"


def _answer(
    query: RoutesQuery,
    shown: list[RouteState],
    total: int,
    *,
    note: str,
    counts: Mapping[str, dict[str, RouteCount]] | None = None,
    unlisted: Mapping[str, int] | None = None,
    age_s: float = 0.0,
) -> Routes:
    return Routes(
        routes=tuple(shown),
        total=total,
        note=note,
        unlisted=dict(unlisted or {}),
        counts=dict(counts or {}),
        age_s=age_s,
        list_limit=LISTED,
        offset=query.offset,
        limit=query.limit,
    )


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
    return kernel, kernel if dataplane.kernel_forwards else _asked(dataplane.fib, destinations)


def _asked(
    question: Callable[[Sequence[str]], Sequence[RouteAnswer]], destinations: list[str]
) -> Sequence[RouteAnswer]:
    try:
        return question(destinations)
    except BackendUnavailable as error:
        return [Untold(f"not asked: {error}")] * len(destinations)


def _inside(row: RibRow, within: IPv4Network | IPv6Network | None) -> bool:
    if within is None:
        return True
    network = ip_network(row.prefix)
    return network.prefixlen >= within.prefixlen and network.network_address in within


def _untold(kernel: RouteAnswer, fib: RouteAnswer) -> dict[str, str]:
    answers = {"kernel": kernel, "fib": fib}
    return {name: answer.reason for name, answer in answers.items() if isinstance(answer, Untold)}


def _shown(answer: RouteAnswer) -> tuple[TableHop, ...] | None:
    """Next hops; None where there is no such route, or the table did not tell."""
    if not isinstance(answer, Entry):
        return None
    if not answer.next_hops:
        return (TableHop(kind=answer.kind),)
    return tuple(
        TableHop(address=hop.address, interface=hop.interface, weight=hop.weight) for hop in answer.next_hops
    )


def _is_route(answer: RouteAnswer) -> bool:
    """Whether packets go somewhere by it; what drops is as good as no route."""
    return isinstance(answer, Entry) and answer.kind not in _DROPS


def _disagreement(rib: RibRow, kernel: RouteAnswer, fib: RouteAnswer, destination: str) -> str:
    if not rib.selected:
        return "FRR has this prefix and has selected no route for it"
    for name, answer in (("the kernel", kernel), ("the data plane", fib)):
        said = _differs(rib, answer, destination)
        if said:
            return f"{name} {said}"
    return ""


def _differs(rib: RibRow, answer: RouteAnswer, destination: str) -> str:
    if isinstance(answer, Untold):
        return ""
    wanted, dropped = _hops(rib), _is_dropped(rib)
    if answer is None:
        return f"has no route {_to(destination)}"
    # Whoever is connected or local is reached without a next hop, each table in its own words.
    if rib.protocol in _EXTERNAL or answer.kind in _OWN_KINDS:
        return ""
    if answer.kind in _DROPS:
        return "" if dropped else f"drops what is sent {_to(destination)}"
    if answer.prefix not in (None, rib.prefix):
        return f"takes {answer.prefix} for it"
    has = {hop.address for hop in answer.next_hops if hop.address is not None}
    if has and has != wanted and (wanted or dropped):
        return f"sends it to {', '.join(sorted(has))}"
    return ""


def _to(destination: str) -> str:
    return f"for {destination}" if "/" in destination else f"to {destination}"


def _is_dropped(rib: RibRow) -> bool:
    return any(hop.blackhole for hop in rib.next_hops)


def _hops(row: RibRow) -> set[str]:
    """Addresses of the next hops that are in use."""
    return {hop.address for hop in row.next_hops if hop.address and hop.active and not hop.recursive}
