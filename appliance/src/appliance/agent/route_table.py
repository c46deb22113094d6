"""RIB, kernel and FIB side by side: where a packet goes, and where the three disagree.

The cost of a question for a prefix or an address does not depend on the size of any of the three tables.
Lists need a walk: of the RIB if it is short (``route_lists``), else of the routes FRR gave the feeder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Protocol

from appliance.agent.route_lists import LISTED, RouteLists
from appliance.dataplane.base import DataPlane
from appliance.dataplane.route_answer import Entry, RouteAnswer, Untold, VrfTable
from appliance.engine.backend import BackendUnavailable
from appliance.routing.rows import FAMILIES, Family, FedPage, RibRow
from appliance.routing.view import VrfRoutingView
from appliance.state.routes import RouteCount, Routes, RoutesQuery, RouteState, TableHop

_EXTERNAL = {"kernel", "connected", "local"}
_OWN_KINDS = {"local", "broadcast", "multicast"}
"""Entries that a table makes on its own."""
_DROPS = {"blackhole", "unreachable", "prohibit"}
_FED = (
    "Connected and local routes are not in this list, which holds what FRR sent to VPP: ask for their "
    "prefix, or for protocol connected."
)


class Forwarding(Protocol):
    """The tables of one VRF that packets go by. May raise BackendUnavailable."""

    @property
    def kernel_forwards(self) -> bool:
        """The kernel's table is the FIB."""

    def fib(self, destinations: Sequence[str], /) -> Sequence[RouteAnswer]:
        """See DataPlane."""

    def kernel_routes(self, destinations: Sequence[str], /) -> Sequence[RouteAnswer]:
        """See DataPlane."""


@dataclass(frozen=True)
class VrfForwarding:
    """The tables of a VRF other than the default one."""

    dataplane: DataPlane
    vrf: VrfTable

    @property
    def kernel_forwards(self) -> bool:
        """See Forwarding."""
        return self.dataplane.kernel_forwards

    def fib(self, destinations: Sequence[str], /) -> Sequence[RouteAnswer]:
        """See Forwarding."""
        return self.dataplane.fib(destinations, self.vrf)

    def kernel_routes(self, destinations: Sequence[str], /) -> Sequence[RouteAnswer]:
        """See Forwarding."""
        return self.dataplane.kernel_routes(destinations, self.vrf)


def route(query: RoutesQuery, tables: Forwarding, routing: VrfRoutingView) -> Routes:
    """The answer for one prefix or address. Raises BackendUnavailable when the RIB cannot be asked."""
    destination = _destination(query)
    known = list(routing.rib_entry(destination))
    rows = [row for row in known if row.selected][:1] or known[:1]
    (kernel,), (fib,) = _ask(tables, [destination])
    shown = [side_by_side(row, kernel, fib, destination) for row in rows]
    if not rows and any(_is_route(answer) for answer in (kernel, fib)):
        shown = [_unknown_to_the_rib(destination, kernel, fib)]
    note = ""
    if query.protocol is not None and shown and shown[0].protocol != query.protocol:
        note = f"The route of {destination} is not of protocol {query.protocol}."
        shown = []
    elif query.next_hop is not None and shown and query.next_hop not in _next_hops(shown[0]):
        note = f"The route of {destination} does not lead to {query.next_hop}."
        shown = []
    return _answer(query, shown, len(shown), note)


class LongTable(Protocol):
    """The feeder's copy of FRR's routes, at any size."""

    def route_counts(self, table: int = 0) -> Mapping[Family, Mapping[str, RouteCount]]:
        """By family and protocol. Raises BackendUnavailable."""

    def route_page(
        self, family: Family, query: RoutesQuery, offset: int, limit: int, table: int = 0
    ) -> FedPage:
        """A page in the order of the prefixes, which may be empty. Raises BackendUnavailable."""


def routes(
    query: RoutesQuery,
    tables: Forwarding,
    lists: RouteLists,
    fed_by: LongTable | None = None,
    number: int = 0,
) -> Routes:
    """One page of the list, an entry for each prefix that the RIB has selected a route for.

    ``number`` is that of the VRF's table.

    Routes not listed are counted, and a note says so. Raises BackendUnavailable when the RIB cannot be asked.
    """
    within = None if query.prefix is None else ip_network(query.prefix)
    families: Sequence[Family] = FAMILIES if query.family is None else (query.family,)
    if within is not None:
        families = ("ipv6",) if within.version == 6 else ("ipv4",)
    fed = _fed(query, families, fed_by, number)
    parts: list[_Part] = []
    offset, rows = query.offset, list[RibRow]()
    for family in families:
        limit = query.limit - len(rows)
        if family in fed:
            assert fed_by is not None
            page = fed_by.route_page(family, query, offset, limit, number)
            part = _of_feeder(page, family, fed[family])
        else:
            part = _of_zebra(lists, family, query, within, offset, limit)
        rows += part.rows
        offset = max(0, offset - part.total)
        parts.append(part)
    return Routes(
        routes=tuple(compared(tables, rows)),
        total=sum(part.total for part in parts),
        note=" ".join(dict.fromkeys(part.note for part in parts if part.note)),
        counts={part.family: dict(part.counts) for part in parts},
        unlisted={part.family: part.unlisted for part in parts if part.unlisted is not None},
        age_s=round(max(part.age_s for part in parts), 1),
        list_limit=max(
            (sum(count.rib for count in counts.values()) for counts in fed.values()), default=LISTED
        ),
        offset=query.offset,
        limit=query.limit,
    )


def covering(query: RoutesQuery, tables: Forwarding, routing: VrfRoutingView) -> Routes:
    """Every route that contains the prefix or address, the longest first. Raises BackendUnavailable."""
    assert query.prefix is not None
    network = ip_network(query.prefix)
    rows = []
    for length in range(network.prefixlen, -1, -1):
        shorter = str(network.supernet(new_prefix=length))
        found = [row for row in routing.rib_entry(shorter) if row.selected and row.prefix == shorter]
        rows += [row for row in found[:1] if query.protocol in (None, row.protocol) and _leads_to(row, query)]
    page = rows[query.offset : query.offset + query.limit]
    return _answer(query, compared(tables, page), len(rows))


@dataclass(frozen=True)
class _Part:
    """The part of a page for one family."""

    family: Family
    total: int
    rows: Sequence[RibRow]
    counts: Mapping[str, RouteCount]
    note: str = ""
    age_s: float = 0.0
    unlisted: int | None = None


def _fed(
    query: RoutesQuery, families: Sequence[Family], fed_by: LongTable | None, number: int
) -> dict[Family, Mapping[str, RouteCount]]:
    """The families whose lists come from the feeder: too long for zebra."""
    if fed_by is None or query.protocol in _EXTERNAL:
        return {}
    try:
        counts = fed_by.route_counts(number)
    except BackendUnavailable:
        return {}
    return {
        family: counts[family]
        for family in families
        if sum(count.rib for count in counts[family].values()) > LISTED
    }


def _of_feeder(page: FedPage, family: Family, counts: Mapping[str, RouteCount]) -> _Part:
    return _Part(family, page.total, page.rows, counts, _FED, page.age_s)


def _of_zebra(
    lists: RouteLists,
    family: Family,
    query: RoutesQuery,
    within: IPv4Network | IPv6Network | None,
    offset: int,
    limit: int,
) -> _Part:
    listed = lists.read(family, query.protocol, query.vrf or "")
    rows = [row for row in listed.rows or () if _inside(row, within) and _leads_to(row, query)]
    return _Part(
        family,
        len(rows),
        rows[offset : offset + limit],
        listed.counts,
        listed.note,
        lists.age_s(listed),
        listed.count if listed.rows is None else None,
    )


def _leads_to(row: RibRow, query: RoutesQuery) -> bool:
    return query.next_hop is None or any(hop.address == query.next_hop for hop in row.next_hops)


def _next_hops(route: RouteState) -> set[str | None]:
    """As the RIB has them, else as kernel and FIB have them."""
    known = (route.kernel or (), route.fib or ()) if route.rib is None else (route.rib,)
    return {hop.address for hops in known for hop in hops}


def compared(tables: Forwarding, rows: Sequence[RibRow]) -> list[RouteState]:
    """Rows of the RIB beside kernel and FIB."""
    kernel, fib = _ask(tables, [row.prefix for row in rows])
    return [
        side_by_side(row, known, forwards, row.prefix)
        for row, known, forwards in zip(rows, kernel, fib, strict=True)
    ]


def side_by_side(rib: RibRow, kernel: RouteAnswer, fib: RouteAnswer, destination: str) -> RouteState:
    """One route in all three tables; ``disagreement`` is a sentence, empty when they agree."""
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
    """A route that a table has and FRR does not; entries that a table makes on its own need no FRR."""
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


def _answer(query: RoutesQuery, shown: list[RouteState], total: int, note: str = "") -> Routes:
    return Routes(
        routes=tuple(shown),
        total=total,
        note=note,
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


def _ask(tables: Forwarding, destinations: list[str]) -> tuple[Sequence[RouteAnswer], Sequence[RouteAnswer]]:
    """The kernel's answers and the FIB's. A table that cannot be asked says why in each."""
    kernel = _asked(tables.kernel_routes, destinations)
    return kernel, kernel if tables.kernel_forwards else _asked(tables.fib, destinations)


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
    """Next hops; None if there is no such route, or the table did not answer."""
    if not isinstance(answer, Entry):
        return None
    if not answer.next_hops:
        return (TableHop(kind=answer.kind),)
    return tuple(
        TableHop(address=hop.address, interface=hop.interface, weight=hop.weight) for hop in answer.next_hops
    )


def _is_route(answer: RouteAnswer) -> bool:
    """Whether it forwards packets; a route that drops is as good as none."""
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
    # A connected or local destination has no next hop; each table says so in its own words.
    if rib.protocol in _EXTERNAL or answer.kind in _OWN_KINDS:
        return ""
    if answer.kind in _DROPS:
        return "" if dropped else f"drops what is sent {_to(destination)}"
    has = {hop.address for hop in answer.next_hops if hop.address is not None}
    if answer.prefix not in (None, rib.prefix):
        # VPP has a route of its own to the far end of a tunnel, which follows the one around it.
        return "" if _is_host(answer.prefix) and has == wanted else f"uses {answer.prefix} for it"
    if has and has != wanted and (wanted or dropped):
        return f"sends it to {', '.join(sorted(has))}"
    return ""


def _is_host(prefix: str | None) -> bool:
    return prefix is not None and ip_network(prefix).num_addresses == 1


def _to(destination: str) -> str:
    return f"for {destination}" if "/" in destination else f"to {destination}"


def _is_dropped(rib: RibRow) -> bool:
    return any(hop.blackhole for hop in rib.next_hops)


def _hops(row: RibRow) -> set[str]:
    """Addresses of the next hops in use."""
    return {hop.address for hop in row.next_hops if hop.address and hop.active and not hop.recursive}
