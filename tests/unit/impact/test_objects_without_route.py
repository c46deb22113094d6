"""Relays, tunnels and NAT mappings that a change leaves, or makes, without a route to what they need."""

from __future__ import annotations

from typing import Any

from appliance.config.load import parse_document
from appliance.config.pointer import merge_patch
from appliance.impact.analysis import Analysis, foretell
from appliance.impact.change import Change
from appliance.impact.facts import ToldFacts
from appliance.impact.leading import leading
from appliance.impact.result import Finding
from appliance.liveness.impact import unreached

FAR = "172.16.9.9"
BASE: dict[str, Any] = {
    "interfaces": {
        "lan0": {"type": "ethernet", "match": {"device": "l"}, "addresses": ["10.0.0.1/24"]},
        "wan0": {"type": "ethernet", "match": {"device": "w"}, "addresses": ["192.0.2.2/24"]},
    },
    "nat": {"inside": ["lan0"], "outside": ["wan0"], "masquerade": ["wan0"]},
}
DEFAULT = {"routing": {"static": {"0.0.0.0/0": {"next_hops": [{"address": "192.0.2.1"}]}}}}
BGP = {"routing": {"bgp": {"asn": 65000, "router_id": "10.0.0.1"}}}


def _forward(inside: str) -> dict[str, Any]:
    one = {"outside_interface": "wan0", "outside_port": 80, "inside_address": inside}
    return {"nat": {"port_forwards": {"web": one}}}


def _relay(server: str) -> dict[str, Any]:
    return {"dhcp_relays": {"campus": {"server": server, "source_address": "192.0.2.2"}}}


def _tunnel(destination: str) -> dict[str, Any]:
    return {"interfaces": {"gre0": {"type": "gre", "source": "wan0", "destination": destination}}}


def _found(patch: dict[str, Any], first: dict[str, Any] | None = None, **told: Any) -> list[Finding]:
    before = merge_patch(BASE, first or {})
    facts = ToldFacts(
        {leading((address,)): {address: seen} for address, seen in told.get("told", {}).items()}
    )
    change = Change(parse_document(before), parse_document(merge_patch(before, patch)), facts)
    answer = foretell(change, [Analysis("objects", unreached)])
    assert not any("failed" in one for one in answer.not_looked_at)
    return list(answer.findings)


def test_without_any_route_each_is_certain_to_do_nothing() -> None:
    for patch, title, path in (
        (_forward(FAR), "Port forward web", "/nat/port_forwards/web"),
        (_relay(FAR), "DHCP relay campus", "/dhcp_relays/campus"),
        (_tunnel(FAR), "Tunnel gre0", "/interfaces/gre0"),
    ):
        (finding,) = _found(patch)
        assert (finding.grade, finding.path) == ("certain", path)
        assert finding.text == f"{title} does nothing: no route leads to {FAR}."
        if "nat" not in patch:
            assert _found(patch, first=DEFAULT) == []


def test_on_a_connected_network_each_works() -> None:
    assert _found(_forward("10.0.0.9")) == []
    assert _found(_relay("192.0.2.67")) == []
    assert _found(_tunnel("192.0.2.77")) == []


def test_a_port_forward_whose_packets_leave_outside_again() -> None:
    (finding,) = _found(_forward(FAR), first=DEFAULT)
    assert finding.grade == "possible"
    assert finding.text == (
        f"Port forward web may lead nowhere: packets to {FAR} leave by wan0, which is not an inside"
        " interface."
    )
    inside = {"routing": {"static": {"172.16.0.0/16": {"next_hops": [{"address": "10.0.0.2"}]}}}}
    assert _found(_forward(FAR), first=merge_patch(DEFAULT, inside)) == []


def test_a_protocol_may_bring_the_route() -> None:
    assert _found(_relay(FAR), first=BGP, told={FAR: ("172.16.0.0/16", "bgp")}) == []
    (finding,) = _found(_relay(FAR), first=BGP, told={FAR: ("", "")})
    assert (finding.grade, finding.evidence) == ("possible", "FRR has no route to it now")


def test_a_route_that_goes_takes_them_with_it() -> None:
    routed = {"routing": {"static": {"172.16.0.0/16": {"next_hops": [{"address": "10.0.0.2"}]}}}}
    first = merge_patch(routed, _forward(FAR))
    (finding,) = _found({"routing": {"static": None}}, first=first)
    assert finding.text == f"Port forward web does nothing: no route leads to {FAR}."
    hole = {"routing": {"static": {"172.16.0.0/16": {"blackhole": True, "next_hops": None}}}}
    assert len(_found(hole, first=first)) == 1


def test_what_did_nothing_before_is_not_repeated() -> None:
    described = {"nat": {"port_forwards": {"web": {"description": "the shop"}}}}
    assert _found(described, first=_forward(FAR)) == []
    assert _found({"nat": {"port_forwards": {"web": {"inside_address": "172.16.9.8"}}}}, first=_forward(FAR))
