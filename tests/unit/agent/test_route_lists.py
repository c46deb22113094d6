"""Lists of routes on a table of a million: what is asked of zebra, how often, and what is said instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from appliance.agent import route_table
from appliance.agent.route_lists import LISTED, RouteLists
from appliance.engine.backend import BackendUnavailable
from appliance.routing.rows import Family, FedPage, RibRow
from appliance.routing.walks import BURST_S, SHARE
from appliance.state.routes import RouteCount, RoutesQuery

MILLION = {"ipv4": {"connected": 3, "static": 12, "bgp": 1_000_000}, "ipv6": {"connected": 3}}


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Zebra:
    """Walks its table for counts and lists, which takes time; fails on a list of more than ``LISTED``."""

    name = "linux"
    kernel_forwards = True

    def __init__(self, clock: Clock, counts: dict[str, dict[str, int]], walk_s: float) -> None:
        self.counts, self.walk_s = counts, walk_s
        self._clock = clock
        self.asked: list[tuple[Any, ...]] = []
        self.grown = False
        """Its table has become longer than a list may be."""

    def in_vrf(self, vrf: str) -> Zebra:
        assert not vrf
        return self

    def rib_counts(self, family: Family) -> dict[str, RouteCount]:
        self._walk("count", family)
        return {name: RouteCount(rib=count, fib=count) for name, count in self.counts[family].items()}

    def rib_list(self, family: Family, protocol: str | None, most: int) -> list[RibRow] | None:
        self._walk("list", family, protocol)
        if self.grown:
            return None
        protocols = self.counts[family] if protocol is None else {protocol: self.counts[family][protocol]}
        assert sum(protocols.values()) <= LISTED, f"a list of {protocols}"
        start = "10.0" if family == "ipv4" else "2001:db8"
        return [
            RibRow(f"{start}.{at >> 8}.{at & 255}/32" if family == "ipv4" else f"{start}::{at:x}/128", name)
            for name, count in protocols.items()
            for at in range(count)
        ]

    def kernel_routes(self, destinations: Sequence[str]) -> list[None]:
        return [None] * len(destinations)

    def _walk(self, *what: Any) -> None:
        self.asked.append(what)
        self._clock.now_s += self.walk_s


def _made(counts: dict[str, dict[str, int]], walk_s: float = 0.5) -> tuple[Clock, Zebra, RouteLists]:
    clock = Clock()
    zebra: Any = Zebra(clock, counts, walk_s)
    return clock, zebra, RouteLists(zebra, clock)


def _page(zebra: Any, lists: RouteLists, **query: Any) -> dict[str, Any]:
    return route_table.routes(RoutesQuery.model_validate(query), zebra, lists).model_dump(mode="json")


def test_a_table_too_long_for_a_list_is_counted_and_said() -> None:
    _, zebra, lists = _made(MILLION)
    answer = _page(zebra, lists)
    assert ("list", "ipv4", None) not in zebra.asked
    assert answer["unlisted"] == {"ipv4": 1_000_015}
    assert answer["counts"]["ipv4"]["bgp"] == {"rib": 1_000_000, "fib": 1_000_000}
    assert "There are 1,000,015 IPv4 routes; only lists of up to 10,000 are shown." in answer["note"]
    # The family that is short is listed.
    assert (answer["total"], {row["family"] for row in answer["routes"]}) == (3, {"ipv6"})


def test_a_protocol_with_few_routes_is_listed_beside_a_million() -> None:
    _, zebra, lists = _made(MILLION)
    answer = _page(zebra, lists, protocol="static", family="ipv4")
    assert zebra.asked == [("count", "ipv4"), ("list", "ipv4", "static")]
    assert (answer["total"], answer["note"], answer["unlisted"]) == (12, "", {})
    assert _page(zebra, lists, protocol="bgp", family="ipv4")["note"].startswith(
        "There are 1,000,000 IPv4 routes of bgp;"
    )
    assert zebra.asked[2:] == [("count", "ipv4")]


def test_a_protocol_without_routes_is_not_asked_for() -> None:
    _, zebra, lists = _made(MILLION)
    answer = _page(zebra, lists, protocol="no-such", family="ipv4")
    assert zebra.asked == [("count", "ipv4")]
    assert (answer["routes"], answer["note"]) == ([], "")


def test_longer_prefixes_of_a_table_too_long_are_not_asked_for() -> None:
    _, zebra, lists = _made(MILLION)
    answer = _page(zebra, lists, prefix="10.0.0.0/8", within=True)
    assert zebra.asked == [("count", "ipv4")]
    assert (answer["routes"], answer["unlisted"]) == ([], {"ipv4": 1_000_015})


def test_every_row_is_reached_by_paging() -> None:
    _, zebra, lists = _made({"ipv4": {"bgp": LISTED}, "ipv6": {}}, walk_s=0.1)
    seen = [
        row["prefix"]
        for offset in range(0, LISTED + 1000, 1000)
        for row in _page(zebra, lists, offset=offset, limit=1000)["routes"]
    ]
    assert len(seen) == len(set(seen)) == LISTED
    assert zebra.asked.count(("list", "ipv4", None)) == 1
    inside = _page(zebra, lists, prefix="10.0.7.0/24", within=True, limit=1000)
    assert (inside["total"], inside["routes"][0]["prefix"]) == (256, "10.0.7.0/32")


@pytest.mark.parametrize("counts", [MILLION, {"ipv4": {"bgp": LISTED}, "ipv6": {"bgp": LISTED}}])
def test_viewers_who_ask_all_the_time_take_a_twentieth_of_zebras(counts: dict[str, dict[str, int]]) -> None:
    clock, zebra, lists = _made(counts)
    protocols = (None, "connected", "static", "bgp", "ospf", "kernel")
    asked, hour_s = 0, 1200.0
    while clock.now_s < hour_s:
        protocol = protocols[asked % len(protocols)]
        _page(zebra, lists, **({"protocol": protocol} if protocol else {}))
        asked += 1
        clock.now_s += 0.25
    walked_s = len(zebra.asked) * zebra.walk_s
    assert walked_s <= BURST_S + hour_s * SHARE + 4 * zebra.walk_s


def test_who_asks_too_often_gets_the_last_list_with_its_age_or_the_reason() -> None:
    clock, zebra, lists = _made({"ipv4": {"bgp": 50, "ospf": 3}, "ipv6": {}}, walk_s=1.5)
    assert _page(zebra, lists, family="ipv4")["total"] == 53
    clock.now_s += 100  # the allowance has not recovered from two walks of 1.5 s, and the list is old
    zebra.walk_s = 5.0
    assert _page(zebra, lists, family="ipv4", protocol="bgp")["total"] == 50
    asked = len(zebra.asked)
    clock.now_s += 20
    kept = _page(zebra, lists, family="ipv4")
    assert (kept["total"], kept["age_s"] > 100, kept["note"]) == (53, True, "")
    other = _page(zebra, lists, family="ipv4", protocol="ospf")
    assert other["routes"] == []
    assert "Ask again in" in other["note"]
    assert len(zebra.asked) == asked
    assert "ipv4" in other["unlisted"]


def test_a_list_that_grew_while_it_was_read_is_not_shown() -> None:
    _, zebra, lists = _made({"ipv4": {"bgp": 50}, "ipv6": {}})
    zebra.grown = True
    answer = _page(zebra, lists, family="ipv4")
    assert (answer["routes"], list(answer["unlisted"])) == ([], ["ipv4"])


def test_few_lists_are_kept() -> None:
    clock, zebra, lists = _made({"ipv4": {f"p{at}": 5 for at in range(50)}, "ipv6": {}}, walk_s=0.001)
    for at in range(50):
        _page(zebra, lists, family="ipv4", protocol=f"p{at}")
        clock.now_s += 10
    assert len(lists._kept) <= 4


class Fed:
    """A feeder that knows a million IPv4 routes and three of IPv6."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.away = False

    def route_counts(self, table: int = 0) -> dict[str, dict[str, RouteCount]]:
        if self.away:
            raise BackendUnavailable("feeder", "gone")
        return {
            "ipv4": {"bgp": RouteCount(rib=1_000_000, fib=999_999), "static": RouteCount(rib=12, fib=12)},
            "ipv6": {"bgp": RouteCount(rib=3, fib=3)},
        }

    def route_page(
        self, family: Family, query: RoutesQuery, offset: int, limit: int, table: int = 0
    ) -> FedPage:
        self.asked.append((family, query.protocol, query.next_hop, offset, limit))
        total = 12 if query.protocol == "static" else 1_000_012
        count = max(0, min(limit, total - offset))
        rows = [RibRow(f"16.0.{at >> 8 & 255}.{at & 255}/32", "bgp") for at in range(offset, offset + count)]
        return FedPage(total, rows, 0.25)


def _fed_page(zebra: Any, lists: RouteLists, fed: Any, **query: Any) -> dict[str, Any]:
    return route_table.routes(RoutesQuery.model_validate(query), zebra, lists, fed).model_dump(mode="json")


def test_a_long_table_is_listed_from_what_the_feeder_knows_without_a_walk_of_zebras() -> None:
    _, zebra, lists = _made(MILLION)
    fed = Fed()
    answer = _fed_page(zebra, lists, fed, offset=1_000_010, limit=100)
    # The short family follows from zebra, the long one is never walked.
    assert zebra.asked == [("count", "ipv6"), ("list", "ipv6", None)]
    assert fed.asked == [("ipv4", None, None, 1_000_010, 100)]
    assert (answer["total"], answer["unlisted"], answer["list_limit"]) == (1_000_015, {}, 1_000_012)
    assert [row["family"] for row in answer["routes"]] == ["ipv4"] * 2 + ["ipv6"] * 3
    assert answer["counts"]["ipv4"]["bgp"] == {"rib": 1_000_000, "fib": 999_999}
    assert answer["note"].startswith("Connected and local routes are not in this list")


def test_what_the_feeder_is_not_told_of_is_listed_by_zebra() -> None:
    _, zebra, lists = _made(MILLION)
    fed = Fed()
    answer = _fed_page(zebra, lists, fed, protocol="connected", family="ipv4")
    assert (answer["total"], fed.asked) == (3, [])
    fed.away = True
    assert _fed_page(zebra, lists, fed, family="ipv4")["unlisted"] == {"ipv4": 1_000_015}


def test_a_next_hop_chooses_routes_of_either_list() -> None:
    _, zebra, lists = _made({"ipv4": {"bgp": 5}, "ipv6": {}})
    assert _page(zebra, lists, next_hop="192.0.2.1")["total"] == 0
    fed = Fed()
    _fed_page(zebra, lists, fed, family="ipv4", next_hop="192.0.2.1", limit=5)
    assert fed.asked == [("ipv4", None, "192.0.2.1", 0, 5)]


def test_covering_routes_come_longest_first_and_only_where_they_exist() -> None:
    class Rib:
        known = ("0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.2.0.0/16")

        def rib_entry(self, destination: str) -> list[RibRow]:
            # zebra answers with nothing for a prefix that it does not have.
            return [RibRow(destination, "bgp")] if destination in self.known else []

    zebra: Any = _made({"ipv4": {}, "ipv6": {}})[1]
    rib: Any = Rib()

    def found(prefix: str, **more: Any) -> list[str]:
        query = RoutesQuery.model_validate({"prefix": prefix, "covering": True, **more})
        return [route.prefix for route in route_table.covering(query, zebra, rib).routes]

    assert found("10.1.2.3") == ["10.1.2.0/24", "10.1.0.0/16", "10.0.0.0/8", "0.0.0.0/0"]
    assert found("10.1.0.0/16") == ["10.1.0.0/16", "10.0.0.0/8", "0.0.0.0/0"]
    assert found("10.1.2.3", limit=1, offset=1) == ["10.1.0.0/16"]
    assert found("10.1.2.3", protocol="static") == []
