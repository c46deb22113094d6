"""What of the router may run on interfaces of NAT on the vpp data plane, and whose limits are whose."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import check

_DOCUMENT: dict[str, Any] = {
    "interfaces": {
        "lan0": {"type": "ethernet", "match": {"device": "l"}, "addresses": ["10.0.0.1/24"]},
        "wan0": {"type": "ethernet", "match": {"device": "w"}, "addresses": ["192.0.2.2/24"]},
    },
    "nat": {"inside": ["lan0"], "outside": ["wan0"], "masquerade": ["wan0"]},
}
_OSPF = "/routing/ospf/interfaces/wan0"
_INSIDE = "/routing/ospf/interfaces/lan0"
_NEIGHBOR = "/routing/bgp/neighbors/192.0.2.1"


def _bgp(neighbor: dict[str, Any], address: str = "192.0.2.1", **groups: dict[str, Any]) -> dict[str, Any]:
    settings = {**neighbor, "ipv4_unicast": {}}
    return {"bgp": {"asn": 65000, "neighbors": {address: settings}, "peer_groups": groups}}


@pytest.mark.parametrize(
    ("routing", "pointers"),
    [
        ({"ospf": {"interfaces": {"wan0": {"area": "0.0.0.0"}}}}, [_OSPF]),
        # A passive interface receives nothing.
        ({"ospf": {"interfaces": {"wan0": {"area": "0.0.0.0", "passive": True}}}}, []),
        (_bgp({"remote_asn": 65001}), [_NEIGHBOR]),
        (_bgp({"remote_asn": 65000}), []),
        # Found by the calibration campaign, seed 20261123, rounds 39 and 11: inside, too, VPP drops them.
        ({"ospf": {"interfaces": {"lan0": {"area": "0.0.0.0"}}}}, [f"{_INSIDE}/network_type"]),
        ({"ospf": {"interfaces": {"lan0": {"area": "0.0.0.0", "passive": True}}}}, []),
        ({"ospf": {"interfaces": {"lan0": {"area": "0.0.0.0", "network_type": "point-to-point"}}}}, []),
        (_bgp({"remote_asn": 65001}, "10.0.0.7"), ["/routing/bgp/neighbors/10.0.0.7"]),
        (_bgp({"remote_asn": 65001, "ebgp_multihop": 2}, "10.0.0.7"), []),
        (_bgp({"peer_group": "far"}, far={"remote_asn": 65001, "ttl_security_hops": 1}), []),
    ],
)
def test_protocols_that_receive_with_a_ttl_of_one_are_refused(
    routing: dict[str, Any], pointers: list[str]
) -> None:
    problems = check(parse_document({**_DOCUMENT, "routing": routing}), Capabilities("vpp"))
    assert [problem.pointer for problem in problems] == pointers


@pytest.mark.parametrize(
    ("driver", "limit", "pointers"),
    [
        ("vpp", "sessions_per_worker", []),
        ("linux", "sessions_per_worker", ["/nat/sessions_per_worker"]),
        ("vpp", "sessions_per_user", ["/nat/sessions_per_user"]),
        ("linux", "sessions_per_user", []),
    ],
)
def test_a_limit_that_the_data_plane_cannot_keep_is_refused(
    driver: Any, limit: str, pointers: list[str]
) -> None:
    document = {**_DOCUMENT, "nat": {**_DOCUMENT["nat"], limit: 1000}}
    problems = check(parse_document(document), Capabilities(driver))
    assert [problem.pointer for problem in problems] == pointers
