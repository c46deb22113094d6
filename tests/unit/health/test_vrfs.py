"""Sessions and adjacencies of VRFs are checked like those of the default VRF."""

from __future__ import annotations

from typing import Any

from appliance.config.load import parse_document
from appliance.features.vrf.health import CHECKS, bgp_down, ospf_down
from appliance.health.check import Look
from appliance.state.ospf import OspfNeighborState
from frr_config.protocols.bgp.session import BgpSession, sessions
from tests.bgp_answers import OVER_LIMIT, UP, FrrWithSessions

NEIGHBOR = "10.1.2.2"
BGP = {"asn": 65000, "neighbors": {NEIGHBOR: {"remote_asn": 65001, "description": "customer"}}}
OSPF = {"router_id": "10.0.0.1", "interfaces": {"lan1": {"area": "0"}}}
ROUTER = parse_document(
    {
        "schema_version": 1,
        "interfaces": {
            "lan1": {
                "type": "ethernet",
                "match": {"device": "a"},
                "vrf": "red",
                "addresses": ["10.2.0.1/24"],
            },
            "lan2": {
                "type": "ethernet",
                "match": {"device": "b"},
                "vrf": "blue",
                "addresses": ["10.1.2.1/24"],
            },
        },
        "vrfs": {"blue": {"routing": {"bgp": BGP}}, "red": {"routing": {"ospf": OSPF}}, "quiet": {}},
    }
)
FULL = OspfNeighborState(router_id="10.0.0.2", interface="lan1", state="Full/DR", full=True)


def _known(**told: Any) -> dict[str, BgpSession]:
    return sessions(FrrWithSessions(**{NEIGHBOR: told}))


def test_a_session_of_a_vrf_that_is_down_is_an_alarm_that_names_the_vrf() -> None:
    assert list(bgp_down(Look({"blue": _known(**UP)}, ROUTER))) == []
    (one,) = bgp_down(Look({"blue": _known(**OVER_LIMIT)}, ROUTER))
    assert (one.kind, one.object, one.severity) == ("bgp_down", f"{NEIGHBOR} in VRF blue", "major")
    assert one.summary.startswith(f"VRF blue: BGP neighbor {NEIGHBOR} (customer) is down: ")
    assert one.pointer == f"/vrfs/blue/routing/bgp/neighbors/{NEIGHBOR}"
    (unknown,) = bgp_down(Look({"blue": {}}, ROUTER))
    assert unknown.summary.endswith("FRR does not know the neighbor")
    assert list(bgp_down(Look({}, ROUTER))) == [], "a VRF that came after the reading"


def test_an_adjacency_of_a_vrf_is_lost_until_it_is_back() -> None:
    there = {"red": {"10.0.0.2 on lan1": FULL}}
    assert list(ospf_down(Look(there, ROUTER))) == []
    (lost,) = ospf_down(Look({"red": {}}, ROUTER, before=there))
    assert (lost.kind, lost.object) == ("ospf_down", "10.0.0.2 on lan1 in VRF red")
    assert lost.pointer == "/vrfs/red/routing/ospf/interfaces/lan1"
    # The alarm continues from the present state when the previous reading is not remembered.
    (still,) = ospf_down(Look({"red": {}}, ROUTER, before={"red": {}}, standing={lost.key: 30.0}))
    assert still.key == lost.key
    assert list(ospf_down(Look(there, ROUTER, before={"red": {}}, standing={lost.key: 30.0}))) == []


def test_nothing_is_read_where_no_vrf_speaks_to_anybody() -> None:
    quiet = parse_document({"schema_version": 1, "vrfs": {"quiet": {}}})
    assert [check.concerns(ROUTER) for check in CHECKS] == [True, True]
    assert [check.concerns(quiet) for check in CHECKS] == [False, False]
