"""Live state from real daemons: pages, longest match, and strings that a peer chose."""

from __future__ import annotations

import pytest

from frr_config import FrrClient
from tests.integration.frr.conftest import OTHER_PEER, PEER, PEER6, Pair, configure
from tests.integration.frr.harness import FrrHarness, wait_until

pytestmark = pytest.mark.root
ROUTES = 500
ALL = "198.18.0.0/15"
"""Holds the routes of these tests, and none that a zebra killed by another test left in the kernel."""


@pytest.fixture
def filled_router(empty_router: FrrHarness) -> FrrClient:
    client = empty_router.client()
    static = {
        f"198.{18 + at // 256}.{at % 256}.0/24": {"next_hops": [{"address": "10.9.0.2"}]}
        for at in range(ROUTES)
    }
    configure(
        client, {"static": static | {"2001:db8:77::/48": {"next_hops": [{"address": "2001:db8:9::2"}]}}}
    )
    wait_until(
        lambda: (
            len(client.rib(prefix=ALL, protocol="static", limit=9999).items) == ROUTES
            and client.rib_lookup("2001:db8:77::/48") is not None
        ),
        "the routes of both families in zebra",
    )
    return client


def test_pages_of_the_rib(filled_router: FrrClient) -> None:
    seen: list[str] = []
    offset, more = 0, True
    while more:
        page = filled_router.rib(prefix=ALL, protocol="static", offset=offset, limit=120)
        seen += [item["prefix"] for item in page.items]
        offset, more = offset + 120, page.more
    assert len(seen) == len(set(seen)) == ROUTES
    last = filled_router.rib(prefix=ALL, protocol="static", offset=ROUTES - 5, limit=120)
    assert (len(last.items), last.more, last.total) == (5, False, ROUTES)
    assert filled_router.rib(prefix=ALL, protocol="static", offset=0, limit=1).total is None
    assert filled_router.rib(protocol="bgp").items == ()


def test_prefix_and_longest_match(filled_router: FrrClient) -> None:
    below = filled_router.rib(prefix="198.18.16.0/20", limit=100)
    assert len(below.items) == 16
    assert filled_router.rib(prefix="198.18.16.0/20", protocol="connected").items == ()
    best = filled_router.rib_lookup("198.18.16.77")
    assert best is not None
    assert best["prefix"] == "198.18.16.0/24"
    assert best["routes"][0]["protocol"] == "static"
    best6 = filled_router.rib_lookup("2001:db8:77::1")
    assert best6 is not None
    assert best6["prefix"] == "2001:db8:77::/48"
    assert filled_router.rib_lookup("192.0.2.1") is None
    exact, exact6 = (filled_router.rib_lookup(prefix) for prefix in ("198.18.16.0/24", "2001:db8:77::/48"))
    assert exact is not None
    assert exact6 is not None
    assert (exact["prefix"], exact6["prefix"]) == (best["prefix"], best6["prefix"])
    assert filled_router.rib_lookup("198.18.16.0/20") is None


@pytest.mark.parametrize(
    "arguments",
    [
        {"prefix": "198.18.0.0/16 json\0end"},
        {"protocol": "static json"},
        {"family": "ip"},
        {"prefix": "2001:db8::/32"},
        {"offset": -1},
        {"prefix": "fe80::%a json/64", "family": "ipv6"},
    ],
)
def test_bad_arguments_reach_no_daemon(filled_router: FrrClient, arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"."):
        filled_router.rib(**arguments)  # type: ignore[arg-type]  # what a careless caller would do


def test_nothing_runs(empty_router: FrrHarness) -> None:
    client = empty_router.client()
    assert client.bgp_neighbors() == {}
    assert client.bgp_neighbor("192.0.2.1") == {}
    assert client.ospf_neighbors().get("neighbors", {}) == {}
    assert client.bgp_routes().items == ()
    assert client.bgp_summary() == {} or "ipv4Unicast" not in client.bgp_summary()


def test_bgp_state(pair: Pair) -> None:
    document = pair.near_routing()
    document["bgp"]["neighbors"][PEER]["ipv4_unicast"] = {"soft_reconfiguration_inbound": True}
    document["bgp"]["ipv4_unicast"] = {"redistribute": {"connected": {}}}
    configure(pair.client, document)
    client = pair.client
    summary = client.bgp_summary()
    assert set(summary["ipv4Unicast"]["peers"]) == {PEER, OTHER_PEER}
    assert set(summary["ipv6Unicast"]["peers"]) == {PEER6}
    assert set(client.bgp_neighbors()) == {PEER, OTHER_PEER, PEER6}
    assert client.bgp_neighbor(PEER6)["bgpState"] == "Established"
    announced = {f"198.51.{at}.0/24" for at in range(100, 110)}

    def received() -> set[str]:
        return {item["prefix"] for item in client.bgp_routes(neighbor=PEER, direction="received").items}

    wait_until(lambda: received() >= announced, "ten received")
    routes = client.bgp_routes(prefix="198.51.100.0/22", limit=2)
    assert (len(routes.items), routes.more) == (2, True)
    assert all(item["paths"][0]["path"] == "65001" for item in routes.items)
    wait_until(lambda: len(client.bgp_routes(neighbor=PEER, direction="advertised").items) >= 2, "advertised")
    assert len(client.bgp_routes(neighbor=PEER).items) == 10
    with pytest.raises(ValueError, match="neighbor"):
        client.bgp_routes(direction="received")


def test_a_stream_that_is_left_early_harms_nothing(filled_router: FrrClient) -> None:
    for _ in range(3):
        assert filled_router.rib(limit=1).more
        assert filled_router.rib_summary()["routesTotal"] >= ROUTES


def test_restarted_daemon_answers_again(filled_router: FrrClient, router: FrrHarness) -> None:
    assert filled_router.rib_summary()
    router.kill("zebra")
    router.start_daemon("zebra")
    assert "routes" in filled_router.rib_summary()
    assert not filled_router.observe().is_empty
