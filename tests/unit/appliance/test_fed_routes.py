"""The feeder's lists of routes, in the words of the RIB."""

from __future__ import annotations

from typing import Any

from appliance.dataplane.vpp.fed_routes import page_question, read_page, route_counts
from appliance.state.routes import RouteCount, RoutesQuery


def _question(family: Any, **query: Any) -> str:
    return page_question(family, RoutesQuery.model_validate(query), 200, 50)


def test_a_question_names_what_is_asked_for() -> None:
    assert _question("ipv4") == "routes ipv4 offset=200 limit=50"
    inside = _question("ipv6", prefix="2001:db8::/32", within=True, protocol="ospf6")
    assert inside == "routes ipv6 offset=200 limit=50 within=2001:db8::/32 protocol=188"
    host = _question("ipv4", prefix="192.0.2.7", within=True, next_hop="198.51.100.1")
    assert host == "routes ipv4 offset=200 limit=50 within=192.0.2.7/32 via=198.51.100.1"
    # A word that is no protocol of FRR's has no routes, and is no other protocol's.
    assert _question("ipv4", protocol="no-such").endswith("protocol=255")


def test_an_answer_is_read_into_rows() -> None:
    page = read_page(
        "ipv6",
        {
            "total": 9,
            "age_ms": 1500,
            "routes": [
                {
                    "prefix": "2001:db8::/32",
                    "protocol": 188,
                    "state": "in_vpp",
                    "stale": False,
                    "hops": [{"weight": 2, "address": "fe80::1", "interface": "wan0"}],
                },
                {
                    "prefix": "2001:db8:1::/48",
                    "protocol": 77,
                    "state": "refused",
                    "stale": False,
                    "hops": [{"weight": 1, "kind": "blackhole"}],
                },
            ],
        },
    )
    assert (page.total, page.age_s) == (9, 1.5)
    ospf, unknown = page.rows
    assert (ospf.protocol, ospf.installed, ospf.next_hops[0].interface) == ("ospf6", True, "wan0")
    assert (unknown.protocol, unknown.installed, unknown.next_hops[0].blackhole) == (
        "rtproto-77",
        False,
        True,
    )


def test_counts_of_one_word_are_added() -> None:
    told = {
        "196": {"wanted": 3, "in_vpp": 2},
        "4": {"wanted": 1, "in_vpp": 1},
        "189": {"wanted": 5, "in_vpp": 0},
    }
    assert route_counts("ipv6", told) == {
        "static": RouteCount(rib=4, fib=3),
        "ripng": RouteCount(rib=5, fib=0),
    }
