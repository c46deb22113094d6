"""The effect of a change in VRFs: each is analysed from its own point of view, with its own sessions."""

from __future__ import annotations

from typing import Any

from appliance.config.load import parse_document
from appliance.config.pointer import merge_patch
from appliance.features.bgp.sessions import SESSIONS
from appliance.features.ospf.adjacent import ADJACENCIES
from appliance.impact.analysis import foretell, packets_needed
from appliance.impact.change import Change
from appliance.impact.facts import Facts, ToldFacts
from appliance.impact.result import Finding, Result
from appliance.state.bgp import BgpState
from appliance.state.ospf import OspfNeighborState, OspfState
from tests.unit.impact.changes import UP, kinds, session

PEER = "192.0.2.1"
"""A neighbor of this address is in both VRFs."""
BGP = {"asn": 65000, "neighbors": {PEER: {"remote_asn": 65001, "ipv4_unicast": {}}}}
TWICE: dict[str, Any] = {
    "interfaces": {
        "wan0": {"type": "ethernet", "match": {"device": "a"}, "addresses": ["192.0.2.2/30"]},
        "lan0": {"type": "ethernet", "match": {"device": "b"}, "addresses": ["10.10.0.1/24"]},
        "wan1": {"type": "ethernet", "match": {"device": "c"}, "addresses": ["192.0.2.2/30"], "vrf": "blue"},
        "lan1": {"type": "sub_interface", "parent": "lan0", "vlan_id": 7, "vrf": "blue"}
        | {"addresses": ["10.10.0.1/24"]},
    },
    "routing": {"bgp": BGP},
    "vrfs": {
        "blue": {
            "routing": {
                "bgp": BGP,
                "ospf": {"router_id": "10.10.0.1", "interfaces": {"lan1": {"area": "0"}}},
                "static": {
                    "198.51.100.0/24": {"next_hops": [{"address": "10.10.0.2"}]},
                    "203.0.113.0/24": {"next_hops": [{"interface": "wan0", "vrf": "default"}]},
                },
            }
        },
        "red": {},
    },
}
NEIGHBORS = OspfState(
    neighbors=(
        OspfNeighborState(
            router_id="10.255.0.9", address="10.10.0.9", interface="lan1", state="Full", full=True
        ),
    )
)
IN_BLUE = {**UP, SESSIONS: BgpState(neighbors={PEER: session(received=7)}), ADJACENCIES: NEIGHBORS}


def _change(patch: dict[str, Any], blue: Facts | None = None) -> Change:
    facts = ToldFacts(UP, {"blue": ToldFacts(IN_BLUE) if blue is None else blue})
    return Change(parse_document(TWICE), parse_document(merge_patch(TWICE, patch)), facts)


def _result(patch: dict[str, Any], blue: Facts | None = None) -> Result:
    answer = foretell(_change(patch, blue))
    assert not any("failed" in one for one in answer.not_looked_at), answer.not_looked_at
    return answer


def _found(patch: dict[str, Any]) -> list[Finding]:
    return list(_result(patch).findings)


def _in_blue(**routing: Any) -> dict[str, Any]:
    return {"vrfs": {"blue": {"routing": routing}}}


def test_a_session_of_a_vrf_closes_and_the_one_of_the_same_address_does_not() -> None:
    at = f"bgp/neighbors/{PEER}/enabled"
    shut = {"bgp": {"neighbors": {PEER: {"enabled": False}}}}
    (blue,) = _found(_in_blue(**shut))
    assert (blue.grade, blue.kind, blue.path) == ("certain", "session", f"/vrfs/blue/routing/{at}")
    assert blue.text == f"VRF blue: The BGP session with {PEER} closes: the neighbor is shut down."
    assert "7 IPv4 unicast prefixes received" in blue.evidence
    (default,) = _found({"routing": shut})
    assert (default.path, default.text[:8]) == (f"/routing/{at}", "The BGP ")
    assert "1,000 IPv4" in default.evidence


def test_the_network_of_a_neighbor_is_that_of_its_vrf() -> None:
    found = _found({"interfaces": {"wan1": {"enabled": False}}})
    assert [one.text for one in found if one.kind == "session"] == [
        f"VRF blue: The BGP session with {PEER} closes: 192.0.2.0/30 on wan1, which the neighbor is on, is "
        "no longer connected."
    ]


def test_an_interface_of_a_vrf_stands_on_one_of_another() -> None:
    found = _found({"interfaces": {"lan0": {"enabled": False}}})
    texts = [one.text for one in found]
    assert "VRF blue: OSPF on lan1 loses the adjacency with 10.255.0.9: " in " ".join(texts)
    assert any(one.path == "/vrfs/blue/routing/static/198.51.100.0~124" for one in found)
    assert _found({"interfaces": {"lan0": {"description": "x"}}}) == []


def test_a_leaked_route_hangs_on_the_other_vrf() -> None:
    leaks = "/vrfs/blue/routing/static/203.0.113.0~124"
    assert leaks in {one.path for one in _found({"interfaces": {"wan0": {"enabled": False}}})}
    assert leaks not in {one.path for one in _found({"interfaces": {"wan1": {"enabled": False}}})}


def test_a_vrf_that_goes_takes_its_sessions_and_routes() -> None:
    patch = {"vrfs": {"blue": None}, "interfaces": {"wan1": None, "lan1": None}}
    found = [one for one in _found(patch) if one.path.startswith("/vrfs/blue")]
    assert {(one.grade, one.kind) for one in found} >= {("certain", "session"), ("certain", "routes")}
    assert all(one.text.startswith("VRF blue: ") for one in found)


def test_a_new_vrf_is_no_loss() -> None:
    assert _found({"vrfs": {"green": {"routing": {"bgp": BGP}}}}) == []


def test_what_a_vrf_does_not_tell_is_said_with_its_name() -> None:
    answer = _result(_in_blue(bgp={"neighbors": {PEER: {"enabled": False}}}), blue=ToldFacts())
    (finding,) = answer.findings
    assert finding.grade == "possible"
    assert "which the router does not report" in finding.depends_on


def test_imports_that_change_are_told_and_not_analysed() -> None:
    patch = _in_blue(bgp={"ipv4_unicast": {"import_vrfs": ["red"]}})
    patch["vrfs"]["red"] = {"routing": {"bgp": {"asn": 65000}}}
    assert kinds(_found(patch)) == [("possible", "routes", "/vrfs/blue/routing/bgp/ipv4_unicast")]


def test_packets_that_sessions_of_a_vrf_live_by_come_by_its_interfaces() -> None:
    needed = [one for one in packets_needed(_change({}), after=True) if "BGP" in one.what]
    assert {(one.interface, one.what) for one in needed} == {
        ("wan0", f"the BGP session with {PEER}"),
        ("wan1", f"the BGP session with {PEER} in VRF blue"),
    }


def _between(before: dict[str, Any], patch: dict[str, Any]) -> list[str]:
    change = Change(parse_document(before), parse_document(merge_patch(before, patch)), ToldFacts({}))
    return [one.text for one in foretell(change).findings if "imports" in one.text]


IMPORTING: dict[str, Any] = {
    "interfaces": {
        "lan1": {"type": "ethernet", "match": {"device": "l"}, "addresses": ["10.7.0.1/24"], "vrf": "blue"},
    },
    "routing": {"policy": {"route_maps": {"some": {"rules": {"10": {"action": "permit"}}}}}},
    "vrfs": {
        "blue": {"routing": {"bgp": {"asn": 65000, "ipv4_unicast": {"networks": ["10.7.0.0/24"]}}}},
        "red": {
            "routing": {
                "bgp": {
                    "asn": 65000,
                    "ipv4_unicast": {"import_vrfs": ["blue"], "import_route_map": "some"},
                }
            }
        },
    },
}


def test_what_a_vrf_takes_over_goes_with_its_source_and_with_its_own_bgp() -> None:
    """Neither has a neighbor: no session closes, and nothing is announced to anybody."""
    own = {"vrfs": {"red": {"routing": {"bgp": None}}}}
    (gone,) = _between(IMPORTING, own)
    assert gone == "BGP of VRF red no longer imports IPv4 unicast routes of other VRFs."
    source = {"vrfs": {"blue": {"routing": {"bgp": None}}}}
    (without,) = _between(IMPORTING, source)
    assert without == "BGP of VRF red no longer imports IPv4 unicast routes from VRF blue."
    network: dict[str, Any] = {"vrfs": {"blue": {"routing": {"bgp": {"ipv4_unicast": {"networks": []}}}}}}
    down = {"interfaces": {"lan1": {"enabled": False}}}
    expected = ["BGP of VRF red no longer imports 10.7.0.0/24 from VRF blue."]
    assert _between(IMPORTING, network) == _between(IMPORTING, down) == expected
    rules = {"routing": {"policy": {"route_maps": {"some": {"rules": {"10": {"action": "deny"}}}}}}}
    (by_others,) = _between(IMPORTING, rules)
    assert by_others.endswith("of other VRFs by different rules: route map some changes.")
