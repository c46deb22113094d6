"""Static routes and OSPF adjacencies."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.features.ospf.adjacent import ADJACENCIES
from appliance.state.ospf import OspfState
from tests.unit.impact.changes import ROUTER, found, kinds

NO_PROTOCOL = {"routing": {"bgp": None, "ospf": None}}


def _static(**routes: Any) -> dict[str, Any]:
    return {"routing": {"static": routes}}


def test_a_route_that_goes_leaves_its_destination_without_one() -> None:
    (finding,) = found(_static(**{"198.51.100.0/24": None}), first=NO_PROTOCOL)
    assert kinds([finding]) == [("certain", "routes", "/routing/static/198.51.100.0~124")]
    assert finding.text.startswith("No route leads to 198.51.100.0/24 any more")


def test_a_shorter_route_or_a_protocol_may_take_its_place() -> None:
    (instead,) = found(_static(**{"198.51.100.128/25": None}), first=NO_PROTOCOL)
    assert instead.grade == "possible"
    assert "take the route to 198.51.100.0/24 instead" in instead.text
    (protocol,) = found(_static(**{"198.51.100.0/24": None}))
    assert (protocol.grade, protocol.depends_on) == ("possible", "no routing protocol provides one")


def test_next_hops_whose_network_goes() -> None:
    lost = found({"interfaces": {"lan0": {"enabled": False}}}, first=NO_PROTOCOL)
    routes = [one for one in lost if one.kind == "routes"]
    assert [one.path for one in routes] == [
        "/routing/static/198.51.100.0~124",
        "/routing/static/198.51.100.128~125",
    ]
    assert "no next hop of its static route can be reached" in routes[0].text


def test_next_hops_that_only_a_protocol_may_still_lead_to() -> None:
    off = {"interfaces": {"lan0": {"enabled": False}}}
    lost = [one for one in found(off) if one.path.startswith("/routing/static")]
    assert {one.grade for one in lost} == {"possible"}
    assert [one.path for one in lost] == [
        "/routing/static/198.51.100.0~124",
        "/routing/static/198.51.100.128~125",
    ]
    assert lost[0].depends_on == "no other route leads to one of them"


def test_a_blackhole_drops() -> None:
    route = {"next_hops": None, "blackhole": True}
    (finding,) = found(_static(**{"198.51.100.0/24": route}))
    assert kinds([finding]) == [("certain", "traffic", "/routing/static/198.51.100.0~124")]


def _ospf(**settings: Any) -> dict[str, Any]:
    return {"routing": {"ospf": {"interfaces": {"core0": settings}}}}


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        (_ospf(passive=True), "it becomes passive"),
        (_ospf(hello_interval_s=5), "its hello interval changes"),
        (_ospf(area="0.0.0.1"), "its area changes"),
        (_ospf(authentication={"type": "md5", "key": "swordfish"}), "its authentication changes"),
        ({"routing": {"ospf": None}}, "OSPF is removed"),
        ({"routing": {"ospf": {"router_id": "10.255.0.3"}}}, "the router ID changes"),
        ({"interfaces": {"core0": {"enabled": False}}}, "the interface is down"),
        ({"interfaces": {"core0": {"mtu": 1400}}}, "stays in ExStart"),
    ],
)
def test_what_costs_an_adjacency(patch: dict[str, Any], words: str) -> None:
    (finding,) = [one for one in found(patch) if "OSPF on core0" in one.text]
    assert (finding.grade, finding.kind) == ("certain", "session")
    assert words in finding.text and "10.255.0.2" in finding.text and "swordfish" not in finding.text
    alone = found(patch, facts={ADJACENCIES: OspfState()})
    assert not [one for one in alone if "OSPF on core0" in one.text]


def test_what_costs_none() -> None:
    assert found(_ospf(priority=7)) == []
    assert found({"routing": {"ospf": {"interfaces": {"lo1": {"area": "0", "passive": True}}}}}) == []


def test_the_same_addresses_in_another_order_cost_nothing() -> None:
    """No step changes anything then.

    But OSPF, and sessions with this update source, use the first address.
    """
    both = {"core0": ["10.20.0.1/30", "10.21.0.1/30"], "lo1": ["10.255.0.1/32", "10.255.0.7/32"]}
    both["wan0"] = ["192.0.2.2/29", "192.0.2.3/29"]
    first = {"interfaces": {name: {"addresses": one} for name, one in both.items()}}
    turned = {"interfaces": {name: {"addresses": one[::-1]} for name, one in both.items()}}
    assert found(turned, first=first) == []
    gone = {"interfaces": {name: {"addresses": one[1:]} for name, one in both.items()}}
    assert {one.kind for one in found(gone, first=first)} == {"session", "traffic"}


def test_a_network_is_announced_by_whichever_interface_has_it() -> None:
    core = ROUTER["interfaces"]["core0"]
    renamed = {"interfaces": {"core0": None, "core1": core}}
    ospf = {"routing": {"ospf": {"interfaces": {"core0": None, "core1": {"area": "0"}}}}}
    told = [one.text for one in found({**renamed, **ospf})]
    assert not [text for text in told if "announces" in text]
    (closed,) = [text for text in told if text.startswith("OSPF on core0")]
    assert closed == "OSPF on core0 loses the adjacency with 10.255.0.2: OSPF no longer runs there."


def test_a_route_that_ospf_takes_from_the_table_is_no_longer_announced_when_it_goes() -> None:
    drop = {"blackhole": True}
    told: dict[str, Any] = {"redistribute": {"static": {}}, "default_information": {}}
    first = {"routing": {"static": {"203.0.112.0/20": drop, "0.0.0.0/0": drop}, "ospf": told}}
    gone = _static(**{"203.0.112.0/20": None, "0.0.0.0/0": None})
    (finding,) = found(gone, first=first)
    assert kinds([finding]) == [("possible", "routes", "/routing/ospf")]
    assert "no longer announces the default route, 203.0.112.0/20 to" in finding.text
    assert found(gone, first=first, facts={ADJACENCIES: OspfState()}) == []


@pytest.mark.parametrize(
    ("ospf", "words"),
    [
        ({"redistribute": {"static": {"route_map": "in"}}}, "static routes: route map in is new"),
        ({"default_information": {"route_map": "in"}}, "the default route: route map in is new"),
        (
            {"default_information": {"always": False}},
            "no longer announces the default route (while the router has",
        ),
        ({"areas": {"0.0.0.9": {"no_summary": True}}}, "routes of other areas in area 0.0.0.9, except a"),
    ],
)
def test_ospf_announces_by_other_rules(ospf: dict[str, Any], words: str) -> None:
    told = {"redistribute": {"static": {}}, "default_information": {"always": True}}
    first = {"routing": {"ospf": {**told, "areas": {"0.0.0.9": {"type": "stub"}}}}}
    (finding,) = found({"routing": {"ospf": ospf}}, first=first)
    assert (finding.grade, finding.path) == ("possible", "/routing/ospf") and words in finding.text


def test_another_type_of_the_area_costs_the_adjacency_until_the_neighbor_has_it_too() -> None:
    first = _ospf(area="0.0.0.1")
    (finding,) = found({"routing": {"ospf": {"areas": {"0.0.0.1": {"type": "stub"}}}}}, first=first)
    assert (finding.grade, finding.kind) == ("certain", "session")
    assert "area 0.0.0.1 becomes stub; the adjacency comes back once the neighbor's does" in finding.text
    assert found({"routing": {"ospf": {"areas": {"0.0.0.2": {"type": "stub"}}}}}, first=first) == []


def test_a_connected_network_goes_before_a_static_route_of_the_same_prefix() -> None:
    drop = {"10.10.0.0/24": {"blackhole": True}}
    assert found(_static(**drop)) == []
    assert found(_static(**{"10.10.0.0/24": None}), first=_static(**drop)) == []
    (halved,) = found(_static(**{"10.10.0.0/25": {"blackhole": True}}))
    assert halved.grade == "certain"


def test_a_network_that_comes_takes_packets_from_the_static_route_that_led_to_it() -> None:
    comes = {"interfaces": {"wan0": {"addresses": ["192.0.2.2/30", "198.51.100.129/26"]}}}
    (finding,) = found(comes)
    assert kinds([finding]) == [("possible", "routes", "/interfaces/wan0/addresses")]
    assert finding.text == (
        "Packets to 198.51.100.128/26 go out on wan0, which then has an address in it, and no longer take "
        "the static route to 198.51.100.128/25."
    )
    elsewhere = {"interfaces": {"wan0": {"addresses": ["192.0.2.2/30", "203.0.113.1/24"]}}}
    default = _static(**{"0.0.0.0/0": {"next_hops": [{"address": "192.0.2.1"}]}})
    assert found(elsewhere, first=default) == []


def test_a_next_hop_that_bfd_watches_from_now_on_may_not_answer_it() -> None:
    hop = {"address": "10.10.0.2", "bfd_profile": "fast"}
    routes = {"198.51.100.0/24": {"next_hops": [hop]}}
    watched = {"routing": {"bfd": {"profiles": {"fast": {}}}, "static": routes}}
    (finding,) = found(watched)
    assert kinds([finding]) == [("possible", "routes", "/routing/static/198.51.100.0~124")]
    assert finding.text.endswith("uses 10.10.0.2 (BFD profile fast) only while it answers.")
    unwatched = _static(**{"198.51.100.0/24": {"next_hops": [{"address": "10.10.0.2"}]}})
    assert found(unwatched, first=watched) == []


def test_a_new_static_route_takes_packets_from_whatever_led_them_before() -> None:
    """Found by the calibration campaign: a route to a prefix that BGP had sent to another neighbor."""
    led = {"next_hops": [{"address": "10.10.0.9"}]}
    (finding,) = found(_static(**{"203.0.113.0/24": led}))
    assert kinds([finding]) == [("possible", "routes", "/routing/static/203.0.113.0~124")]
    assert "go via 10.10.0.9" in finding.text and "its static route is preferred" in finding.text
    longer = found(_static(**{"198.51.100.7/32": led}), first=NO_PROTOCOL)
    assert [one.grade for one in longer] == ["possible"]
    # Nothing led there.
    assert found(_static(**{"203.0.113.0/24": led}), first=NO_PROTOCOL) == []


def test_other_next_hops_take_packets_another_way() -> None:
    moved = {"next_hops": [{"address": "10.20.0.2"}]}
    (finding,) = found(_static(**{"198.51.100.0/24": moved}))
    assert (finding.grade, finding.kind) == ("possible", "routes")
    assert "its static route changes" in finding.text


def test_many_new_static_routes_are_one_finding() -> None:
    led = {"next_hops": [{"address": "10.10.0.9"}]}
    (finding,) = found(_static(**{f"203.0.{index}.0/24": led for index in range(100)}))
    assert finding.path == "/routing/static"
    assert "and 95 more go via other next hops" in finding.text


def test_bfd_that_goes_may_take_the_adjacency_with_it_and_bfd_that_comes_does_not() -> None:
    watched = _ospf(bfd_profile="fast")
    watched["routing"]["bfd"] = {"profiles": {"fast": {}}}
    assert found(watched) == []
    (finding,) = found(_ospf(bfd_profile=None), first=watched)
    assert (finding.grade, finding.kind) == ("possible", "session")
    assert finding.path == "/routing/ospf/interfaces/core0/bfd_profile"
    assert "For a moment, OSPF on core0 loses the adjacency with 10.255.0.2 and its routes" in finding.text


_PREFERRED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        {"interfaces": {"core0": {"cost": 10}}},
        {"interfaces": {"core0": {"cost": 100}}},
        "cost of core0 becomes 100",
    ),
    (
        {"interfaces": {"core0": {"cost": 10}}},
        {"interfaces": {"core0": {"cost": None}}},
        "that of its bandwidth",
    ),
    (
        {"interfaces": {"core0": {"cost": None}}},
        {"reference_bandwidth_mbps": 1000},
        "bandwidth becomes 1,000 Mbit/s",
    ),
    ({"redistribute": {"static": {}}}, {"redistribute": {"static": {"metric": 5}}}, "metric 5, type 2"),
    (
        {"default_information": {"always": True, "metric": 5}},
        {"default_information": {"metric": None, "metric_type": 1}},
        "the default route is announced with FRR's own metric, type 1",
    ),
]


@pytest.mark.parametrize(("first", "then", "said"), _PREFERRED)
def test_other_costs_and_metrics_lead_packets_another_way(
    first: dict[str, Any], then: dict[str, Any], said: str
) -> None:
    before, after = {"routing": {"ospf": first}}, {"routing": {"ospf": then}}
    (finding,) = found(after, first=before)
    assert kinds([finding]) == [("possible", "routes", "/routing/ospf")]
    assert finding.text.startswith("OSPF sends packets by another path") and said in finding.text
    assert found(after, first=before, facts={ADJACENCIES: OspfState()}) == []


def test_a_cost_that_decides_nothing_is_not_told() -> None:
    set_by_hand = {"routing": {"ospf": {"interfaces": {"core0": {"cost": 10}}}}}
    assert found({"routing": {"ospf": {"reference_bandwidth_mbps": 1000}}}, first=set_by_hand) == []
    down = {"interfaces": {"core0": {"enabled": False}}}
    assert found({"routing": {"ospf": {"interfaces": {"core0": {"cost": 9}}}}}, first=down) == []


def test_what_ospf_no_longer_announces() -> None:
    first = {"routing": {"ospf": {"interfaces": {"lan0": {"area": "0", "passive": True}}}}}
    first["routing"]["ospf"] |= {"default_information": {"always": True}, "redistribute": {"static": {}}}  # type: ignore[dict-item]
    told = {"lan0": None}
    gone = {
        "routing": {
            "ospf": {"interfaces": told, "default_information": None, "redistribute": {"static": None}}
        }
    }
    (finding,) = found(gone, first=first)
    assert kinds([finding]) == [("possible", "routes", "/routing/ospf")]
    assert "10.10.0.0/24, the default route, static routes" in finding.text
    assert found(gone, first=first, facts={ADJACENCIES: OspfState()}) == []
