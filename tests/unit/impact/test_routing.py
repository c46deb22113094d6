"""Static routes and OSPF adjacencies."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.features.ospf.impact import ADJACENCIES
from appliance.state.ospf import OspfState
from tests.unit.impact.changes import found, kinds

NO_PROTOCOL = {"routing": {"bgp": None, "ospf": None}}


def _static(**routes: Any) -> dict[str, Any]:
    return {"routing": {"static": routes}}


def test_a_route_that_goes_leaves_its_destination_without_one() -> None:
    (finding,) = found(_static(**{"198.51.100.0/24": None}), first=NO_PROTOCOL)
    assert kinds([finding]) == [("certain", "routes", "/routing/static/198.51.100.0~124")]
    assert finding.text.startswith("Nothing leads to 198.51.100.0/24 any more")


def test_a_shorter_route_or_a_protocol_may_take_its_place() -> None:
    (instead,) = found(_static(**{"198.51.100.128/25": None}), first=NO_PROTOCOL)
    assert instead.grade == "possible"
    assert "go by 198.51.100.0/24 instead" in instead.text
    (protocol,) = found(_static(**{"198.51.100.0/24": None}))
    assert (protocol.grade, protocol.depends_on) == ("possible", "no routing protocol brings one")


def test_next_hops_whose_network_goes() -> None:
    lost = found({"interfaces": {"lan0": {"enabled": False}}}, first=NO_PROTOCOL)
    routes = [one for one in lost if one.kind == "routes"]
    assert [one.path for one in routes] == [
        "/routing/static/198.51.100.0~124",
        "/routing/static/198.51.100.128~125",
    ]
    assert "no next hop of its static route can be reached" in routes[0].text


def test_next_hops_that_only_a_protocol_may_still_lead_to() -> None:
    lost = [one for one in found({"interfaces": {"lan0": {"enabled": False}}}) if one.kind == "routes"]
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
    assert found(_ospf(cost=7)) == []
    assert found({"routing": {"ospf": {"interfaces": {"lo1": {"area": "0", "passive": True}}}}}) == []
