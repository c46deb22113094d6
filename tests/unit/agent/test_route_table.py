"""RIB, kernel and FIB side by side, and where they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from appliance.agent import route_table
from appliance.agent.route_table import side_by_side
from appliance.dataplane.route_answer import Entry, NextHop, RouteAnswer, Untold
from appliance.engine.backend import BackendUnavailable
from appliance.routing.rows import RibRow
from appliance.state.routes import RibHop, RoutesQuery

PREFIX = "198.51.100.0/24"


def _rib(*addresses: str, protocol: str = "bgp", selected: bool = True) -> RibRow:
    hops = tuple(RibHop(address=address, interface="wan0", active=True) for address in addresses)
    return RibRow(PREFIX, protocol, hops, selected)


def _entry(*addresses: str, prefix: str | None = PREFIX, kind: str = "unicast") -> Entry:
    return Entry(prefix, kind, tuple(NextHop(address, "wan0", 1) for address in addresses))


ONE = _entry("192.0.2.1")
BLACKHOLE = RibRow(PREFIX, "bgp", (RibHop(blackhole=True),))


@pytest.mark.parametrize(
    ("rib", "kernel", "fib", "said"),
    [
        (_rib("192.0.2.1"), ONE, ONE, ""),
        (_rib("192.0.2.1"), None, ONE, "the kernel has no route for 198.51.100.0/24"),
        (_rib("192.0.2.1"), ONE, None, "the data plane has no route for 198.51.100.0/24"),
        (_rib("192.0.2.1"), ONE, _entry("192.0.2.9"), "the data plane sends it to 192.0.2.9"),
        (_rib("192.0.2.1"), Untold("hidden"), ONE, ""),
        (
            _rib("192.0.2.1"),
            _entry(prefix=None, kind="blackhole"),
            ONE,
            "the kernel drops what is sent for 198.51.100.0/24",
        ),
        (BLACKHOLE, _entry(prefix=None, kind="blackhole"), _entry(kind="blackhole"), ""),
        (BLACKHOLE, ONE, ONE, "the kernel sends it to 192.0.2.1"),
        (_rib("192.0.2.1", selected=False), ONE, ONE, "FRR has this prefix and has selected no route for it"),
        (_rib("192.0.2.1", protocol="connected"), _entry(prefix="198.51.100.1/32", kind="local"), ONE, ""),
    ],
)
def test_where_the_tables_disagree(rib: RibRow, kernel: RouteAnswer, fib: RouteAnswer, said: str) -> None:
    shown = side_by_side(rib, kernel, fib, PREFIX)
    assert shown.disagreement == said
    assert shown.consistent is not bool(said)


def test_a_longer_match_than_the_ribs_is_named() -> None:
    other = _entry("192.0.2.1", prefix="198.51.100.0/25")
    shown = side_by_side(_rib("192.0.2.1"), other, ONE, "198.51.100.7")
    assert shown.disagreement == "the kernel uses 198.51.100.0/25 for it"


@pytest.mark.parametrize(
    ("next_hop", "said"), [("192.0.2.1", ""), ("192.0.2.9", "uses 198.51.100.7/32 for it")]
)
def test_a_host_route_that_follows_the_ribs_is_no_difference(next_hop: str, said: str) -> None:
    """VPP has one to the far end of each tunnel."""
    own = _entry(next_hop, prefix="198.51.100.7/32")
    shown = side_by_side(_rib("192.0.2.1"), ONE, own, "198.51.100.7")
    assert shown.disagreement == (f"the data plane {said}" if said else "")


class _Tables:
    """A RIB, a kernel and a FIB that answer, and write down what they were asked."""

    name = "vpp"
    kernel_forwards = False

    def __init__(self, rib: Sequence[RibRow], kernel: RouteAnswer, fib: RouteAnswer) -> None:
        self._rib, self._kernel, self._fib = rib, kernel, fib
        self.asked: list[tuple[str, str]] = []

    def rib_entry(self, destination: str) -> Sequence[RibRow]:
        self.asked.append(("rib", destination))
        return self._rib

    def kernel_routes(self, destinations: Sequence[str]) -> list[RouteAnswer]:
        self.asked += [("kernel", destination) for destination in destinations]
        return [self._kernel] * len(destinations)

    def fib(self, destinations: Sequence[str]) -> list[RouteAnswer]:
        self.asked += [("fib", destination) for destination in destinations]
        if isinstance(self._fib, Untold):
            raise BackendUnavailable("vpp", self._fib.reason)
        return [self._fib] * len(destinations)


def _ask(tables: _Tables, **query: Any) -> dict[str, Any]:
    given: Any = tables
    return route_table.route(RoutesQuery.model_validate(query), given, given).model_dump(mode="json")


@pytest.mark.parametrize(
    ("query", "destination"),
    [
        ({"prefix": "198.51.100.7"}, "198.51.100.7"),
        ({"prefix": "198.51.100.7/24"}, "198.51.100.0/24"),
        ({"prefix": "198.51.100.0/24", "longest": True}, "198.51.100.0"),
        ({"prefix": "2001:DB8::1"}, "2001:db8::1"),
    ],
)
def test_each_table_is_asked_one_question(query: dict[str, Any], destination: str) -> None:
    tables = _Tables([_rib("192.0.2.1")], ONE, ONE)
    answer = _ask(tables, **query)
    assert tables.asked == [("rib", destination), ("kernel", destination), ("fib", destination)]
    assert [row["prefix"] for row in answer["routes"]] == [PREFIX]
    assert answer["total"] == 1


def test_a_table_that_cannot_be_asked_says_so() -> None:
    answer = _ask(_Tables([_rib("192.0.2.1")], ONE, Untold("it does not run")), prefix=PREFIX)
    (row,) = answer["routes"]
    assert (row["fib"], row["untold"]) == (None, {"fib": "not asked: vpp: it does not run"})
    assert row["consistent"]


def test_a_route_that_frr_does_not_know_is_shown() -> None:
    (row,) = _ask(_Tables([], ONE, None), prefix="198.51.100.7")["routes"]
    assert (row["prefix"], row["rib"], row["disagreement"]) == (
        PREFIX,
        None,
        "FRR has no route to 198.51.100.7",
    )
    drops = _entry(prefix="0.0.0.0/0", kind="blackhole")
    assert _ask(_Tables([], None, drops), prefix="198.51.100.7")["routes"] == []


def test_a_route_of_another_protocol_is_said_to_be_one() -> None:
    answer = _ask(_Tables([_rib("192.0.2.1")], ONE, ONE), prefix="198.51.100.7", protocol="ospf")
    assert answer["routes"] == []
    assert answer["note"] == "The route of 198.51.100.7 is not of protocol ospf."


@pytest.mark.parametrize(("next_hop", "is_shown"), [("192.0.2.1", True), ("192.0.2.9", False)])
@pytest.mark.parametrize("rib", [[_rib("192.0.2.1")], []], ids=["FRR knows it", "FRR does not"])
def test_a_route_that_leads_elsewhere_is_said_to(rib: list[RibRow], next_hop: str, is_shown: bool) -> None:
    answer = _ask(_Tables(rib, ONE, ONE), prefix="198.51.100.7", next_hop=next_hop)
    assert (len(answer["routes"]), answer["total"]) == (is_shown, is_shown)
    assert answer["note"] == ("" if is_shown else "The route of 198.51.100.7 does not lead to 192.0.2.9.")


@pytest.mark.parametrize(
    "text", ["", "x", "192.0.2", "192.0.2.0/33", "fe80::1%x\0y", "192.0.2.1 json", "1" * 99]
)
def test_what_is_neither_prefix_nor_address_is_refused(text: str) -> None:
    with pytest.raises(ValidationError) as refused:
        RoutesQuery.model_validate({"prefix": text})
    (error,) = refused.value.errors()
    assert error["msg"] in (
        "must be an address or a prefix",
        "String should have at most 64 characters",
    )
