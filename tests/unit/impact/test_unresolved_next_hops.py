"""Static routes whose next hops nothing reaches: said before the commit, and as certain as it is."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.features.interface.impact import LINKS
from appliance.impact.leading import Leading, leading
from appliance.impact.result import Finding
from appliance.state.interfaces import Interfaces, InterfaceState
from tests.unit.impact.changes import ROUTER, found, kinds
from tests.unit.impact.test_routing import NO_PROTOCOL

FAR, NEW = "172.16.9.9", "203.0.113.0/24"
PATH = "/routing/static/203.0.113.0~124"


def _route(*addresses: str, prefix: str = NEW, **more: Any) -> dict[str, Any]:
    return {"routing": {"static": {prefix: {"next_hops": [{"address": one, **more} for one in addresses]}}}}


def _told(prefix: str, protocol: str) -> dict[Any, object]:
    known: Leading = {FAR: (prefix, protocol)}
    return {leading((FAR,)): known}


def _texts(findings: list[Finding]) -> list[str]:
    return [one.text for one in findings]


def test_without_a_protocol_it_is_certain() -> None:
    (finding,) = found(_route(FAR), first=NO_PROTOCOL)
    assert kinds([finding]) == [("certain", "routes", PATH)]
    assert finding.text == (
        f"The static route to {NEW} forwards nothing: no route leads to its next hop {FAR}."
    )


def test_with_a_protocol_the_router_is_asked() -> None:
    (finding,) = found(_route(FAR), facts=_told("", ""))
    assert (finding.grade, finding.evidence) == ("possible", "FRR has no route to it now")
    assert "forwards nothing" in finding.text and "go via" not in finding.text
    assert finding.depends_on == "no routing protocol brings a route to it"
    (default,) = found(_route(FAR), facts=_told("0.0.0.0/0", "bgp"))
    assert default.depends_on.endswith("FRR does not resolve it by the default route")
    (unknown,) = found(_route(FAR))
    assert (unknown.grade, unknown.evidence) == ("possible", "")
    (itself,) = found(_route(FAR, prefix="172.16.9.0/24"), facts=_told("172.16.9.0/24", "bgp"))
    assert "forwards nothing" in itself.text, "a route resolves no next hop of its own"


def test_a_next_hop_that_a_protocol_leads_to_is_none_of_them() -> None:
    (finding,) = found(_route(FAR), facts=_told("172.16.0.0/16", "bgp"))
    assert "go via" in finding.text and "forwards nothing" not in finding.text


def test_one_of_two_paths() -> None:
    findings = found(_route(FAR, "10.10.0.2"), first=NO_PROTOCOL)
    assert _texts(findings) == [
        f"The static route to {NEW} uses only its other paths: no route leads to its next hop {FAR}."
    ]


def test_a_path_that_was_as_dead_before_is_not_repeated() -> None:
    first = {"routing": {**_route(FAR, "10.10.0.2")["routing"], **NO_PROTOCOL["routing"]}}
    assert found(_route(FAR, "10.10.0.2", distance=7), first=first)
    assert not [one for one in found(_route(FAR, "10.10.0.9"), first=first) if FAR in one.text[40:]]


def test_an_interface_without_a_link() -> None:
    down = Interfaces(
        interfaces=(InterfaceState(name="lan0", type="ethernet", enabled=True, link="down", mtu=1500),)
    )
    (finding,) = found(_route("10.10.0.7"), first=NO_PROTOCOL, facts={LINKS: down})
    assert finding.text == f"The static route to {NEW} forwards nothing: lan0 has no link."
    assert (finding.grade, finding.depends_on) == ("possible", "its link is still down then")


def test_an_interface_that_is_disabled() -> None:
    off = {"interfaces": {"core0": {"enabled": False}}, "routing": {"ospf": None, "bgp": None}}
    route = {"routing": {"static": {NEW: {"next_hops": [{"interface": "core0"}]}}}}
    (finding,) = [one for one in found(route, first=off) if one.path == PATH]
    assert finding.text.endswith("forwards nothing: core0 is down.")


def test_static_routes_resolve_one_another_but_never_themselves() -> None:
    by_other = _route("198.51.100.9")
    assert found(by_other, first=NO_PROTOCOL) == [], "198.51.100.0/24 leads to lan0"
    chain = {"10.50.0.0/24": "10.51.0.9", "10.51.0.0/24": "10.52.0.9", "10.52.0.0/24": "10.10.0.2"}
    routes = {prefix: {"next_hops": [{"address": hop}]} for prefix, hop in chain.items()}
    assert found({"routing": {"static": routes}}, first=NO_PROTOCOL) == []
    ring = {**routes, "10.52.0.0/24": {"next_hops": [{"address": "10.50.0.9"}]}}
    findings = found({"routing": {"static": ring}}, first=NO_PROTOCOL)
    assert {one.grade for one in findings} == {"certain"} and len(findings) == 3
    out = {**ring, "10.51.0.0/24": {"next_hops": [{"address": "10.52.0.9"}, {"address": "10.10.0.2"}]}}
    assert found({"routing": {"static": out}}, first=NO_PROTOCOL) == [], "each leads to lan0 by 10.51.0.0/24"


def test_many_routes_by_one_next_hop_are_one_finding() -> None:
    hop = {"next_hops": [{"address": FAR}]}
    routes = {"routing": {"static": {f"203.0.{at}.0/24": hop for at in range(100)}}}
    (finding,) = found(routes, first=NO_PROTOCOL)
    assert finding.path == "/routing/static"
    assert "and 95 more forward nothing: no route leads to their next hop" in finding.text


def test_of_ipv6_and_in_a_vrf() -> None:
    (finding,) = found(_route("2001:db8:ffff::1", prefix="2001:db8:77::/48"), first=NO_PROTOCOL)
    assert "no route leads to its next hop 2001:db8:ffff::1" in finding.text
    vrf = {"vrfs": {"blue": {"table": 7}}}
    inside = {"vrfs": {"blue": _route("10.10.0.2")}}
    (blue,) = found(inside, first={**vrf, **NO_PROTOCOL})
    assert blue.text.startswith(f"VRF blue: The static route to {NEW} forwards nothing")
    assert blue.path == f"/vrfs/blue{PATH}"


def test_a_blackhole_needs_no_next_hop() -> None:
    (finding,) = found({"routing": {"static": {NEW: {"blackhole": True}}}}, first=NO_PROTOCOL)
    assert "blackhole" in finding.text


@pytest.mark.parametrize("hop", [{"address": "10.10.0.255"}, {"address": "10.10.0.255", "interface": "lan0"}])
def test_a_broadcast_address_is_refused(hop: dict[str, Any]) -> None:
    document = {**ROUTER, "routing": {**ROUTER["routing"], "static": {NEW: {"next_hops": [hop]}}}}
    problems = check(parse_document(document), Capabilities(driver="linux"))
    assert [(one.pointer, one.message) for one in problems] == [
        (
            f"{PATH}/next_hops/0/address",
            "10.10.0.255 is the broadcast address of 10.10.0.0/24 on lan0, and the kernel takes no route"
            " by one",
        )
    ]


def test_the_last_address_of_a_link_between_two_routers_is_no_broadcast_address() -> None:
    interfaces = {"lan0": {**ROUTER["interfaces"]["lan0"], "addresses": ["10.66.0.0/31"]}}
    document = {"interfaces": interfaces, **_route("10.66.0.1")}
    assert check(parse_document(document), Capabilities(driver="linux")) == []
