"""Reading VPP's FIB: look up a route, walk a table, count.

Nothing here writes a route. The plugin linux_nl brings routes into the FIB by copying the kernel's, or a
separate feeder does (``feeder/``). Routes are not among this package's objects, because a plan of a million
routes is not a plan.

A dump of a large table occupies VPP's main thread and this process for long (some 200 s for 1M routes):
:func:`fib_dump` is lazy, for tables that are known to be small or for a reader that stops early.
:func:`fib_lookup` costs one call whatever the table's size, :func:`fib_lookups` one for each question, and
:func:`fib_counts` reads a summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from vpp_config.client import Reply, Request, VppClient, request
from vpp_config.errors import VppApiError, VppError
from vpp_config.objects.base import Family

_NO_INTERFACE = 0xFFFFFFFF
_NO_SUCH = (-3, -6)
_BATCH = 32
_IP6 = 1
_PATH_TYPES = {0: "normal", 1: "local", 2: "drop", 3: "udp_encap", 4: "bier_imp", 5: "unreachable",
               6: "prohibit", 7: "source_lookup", 8: "dvr", 9: "interface_rx", 10: "classify"}  # fmt: skip
_TABLE = re.compile(r"^(\S.*?), fib_index:")
_COUNT_ROW = re.compile(r"^\s+(\d+)\s+(\d+)\s*$")


@dataclass(frozen=True)
class FibPath:
    """One path. ``next_hop`` is None for a connected path, ``sw_if_index`` None where another lookup
    decides.
    """

    next_hop: IPv4Address | IPv6Address | None
    sw_if_index: int | None
    weight: int
    preference: int
    kind: str
    table_id: int | None = None
    """The table of that lookup."""


@dataclass(frozen=True)
class FibRoute:
    """A prefix and its paths. ``source`` is VPP's number for the origin of the route (0: not told)."""

    prefix: IPv4Network | IPv6Network
    paths: tuple[FibPath, ...]
    source: int


def fib_lookup(
    client: VppClient, destination: str, table_id: int = 0, *, exact: bool = False
) -> FibRoute | None:
    """The route that VPP uses for an address or prefix; with ``exact``, only the entry of that very prefix.
    None without one.

    Raises ``ValueError`` for text that is neither, ``VppUnavailable``, ``VppApiError``.
    """
    return _answered(client.pipeline([_lookup(destination, table_id, exact)])[0])


def fib_lookups(client: VppClient, destinations: Sequence[str], table_id: int = 0) -> list[FibRoute | None]:
    """For each prefix its own entry, for each address the longest match; None without one.

    VPP briefly stops its workers for each question, and the client serves no other caller during a batch;
    batches are therefore short. Raises as :func:`fib_lookup` does.
    """
    found: list[FibRoute | None] = []
    for start in range(0, len(destinations), _BATCH):
        batch = destinations[start : start + _BATCH]
        questions = [_lookup(destination, table_id, "/" in destination) for destination in batch]
        found += [_answered(answer) for answer in client.pipeline(questions)]
    return found


def fib_dump(client: VppClient, family: Family, table_id: int = 0) -> Iterator[FibRoute]:
    """All routes of a table, in VPP's order, as they arrive; none for a table that does not exist."""
    table = {"table_id": table_id, "is_ip6": family == "ipv6", "name": ""}
    for row in client.stream("ip_route_v2_dump", src=0, table=table):
        yield _route(row.route)


def fib_counts(client: VppClient, family: Family) -> dict[int, int]:
    """Table id -> number of prefixes, including VPP's own ones (connected, drop, multicast).

    VPP has no call for it; this is ``show ip fib summary`` through the API, one pass in VPP whatever the
    size.
    """
    tables = [row.table for row in client.dump("ip_table_dump")]
    command = f"show {'ip6' if family == 'ipv6' else 'ip'} fib summary"
    by_name = parse_summary(client.call("cli_inband", cmd=command).reply)
    return {
        table.table_id: by_name.get(table.name, 0)
        for table in tables
        if bool(table.is_ip6) == (family == "ipv6")
    }


def parse_summary(text: str) -> dict[str, int]:
    """Table name -> prefixes, parsed from the text of ``show ip fib summary``."""
    counts: dict[str, int] = {}
    name = ""
    for line in text.splitlines():
        if match := _TABLE.match(line):
            name = match[1]
            counts[name] = 0
        elif name and (row := _COUNT_ROW.match(line)):
            counts[name] += int(row[2])
    return counts


def _lookup(destination: str, table_id: int, exact: bool) -> Request:
    prefix = ip_network(destination, strict=False)
    return request("ip_route_lookup_v2", table_id=table_id, exact=exact, prefix=prefix)


def _answered(answer: Reply | list[Reply] | VppError) -> FibRoute | None:
    if isinstance(answer, VppApiError) and answer.retval in _NO_SUCH:
        return None
    if isinstance(answer, VppError):
        raise answer
    reply: Reply = answer
    return _route(reply.route)


def _route(route: Reply) -> FibRoute:
    return FibRoute(
        route.prefix,
        tuple(_path(path) for path in route.paths[: route.n_paths]),
        int(getattr(route, "src", 0)),
    )


def _path(path: Reply) -> FibPath:
    index = path.sw_if_index
    raw = path.nh.address
    next_hop: IPv4Address | IPv6Address = raw.ip6 if path.proto == _IP6 else raw.ip4
    return FibPath(
        next_hop if int(next_hop) else None,
        None if index == _NO_INTERFACE else index,
        path.weight,
        path.preference,
        _PATH_TYPES.get(int(path.type), "other"),
        int(path.table_id) if index == _NO_INTERFACE else None,
    )
