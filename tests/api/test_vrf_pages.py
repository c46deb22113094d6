"""VRFs in the browser: the list, a VRF, and what is in it."""

from __future__ import annotations

from typing import Any

from django.test import Client

from tests.api.conftest import ApiClient
from tests.api.test_pages import browser, get

__all__ = ["browser"]

VRFS: dict[str, Any] = {
    "vrfs": {
        "blue": {
            "description": "customers",
            "table": 10,
            "routing": {
                "static": {"198.51.100.0/24": {"next_hops": [{"address": "10.77.0.2"}]}},
                "bgp": {
                    "asn": 65000,
                    "router_id": "10.77.0.1",
                    "peer_groups": {"inside-blue": {"remote_asn": 65010}},
                    "neighbors": {"10.77.0.2": {"peer_group": "inside-blue", "ipv4_unicast": {}}},
                },
            },
        },
        "red": {},
    },
    "interfaces": {"loop7": {"type": "loopback", "addresses": ["10.77.0.1/24"], "vrf": "blue"}},
}


def test_a_vrf_its_interfaces_and_its_routing(engineer: ApiClient, browser: Client) -> None:
    assert engineer.merge("config", VRFS).status == 200
    listed = get(browser, "/vrfs")
    assert ">loop7</a>" in listed
    assert "1 static" in listed
    assert "BGP" in listed
    assert "customers" in listed
    of_blue = get(browser, "/object/vrfs/blue")
    assert "198.51.100.0/24" in of_blue
    assert "/interfaces/loop7" in of_blue

    # A neighbor's peer groups are those of its VRF.
    neighbor = get(browser, "/edit/vrfs/blue/routing/bgp/neighbors/10.77.0.2")
    assert "inside-blue" in neighbor
    assert "/add/vrfs/blue/routing/bgp/peer_groups" in neighbor


def test_a_vrf_in_use_is_not_deleted_and_one_that_is_free_is(engineer: ApiClient) -> None:
    assert engineer.merge("config", VRFS).status == 200
    refused = engineer.delete("config/vrfs/blue")
    assert refused.status == 422
    assert [one["pointer"] for one in refused.body["errors"]] == ["/interfaces/loop7/vrf"]
    assert engineer.delete("config/vrfs/red").status in (200, 204)


def test_the_state_of_a_vrf_is_asked_for_by_its_name(engineer: ApiClient) -> None:
    assert engineer.merge("config", VRFS).status == 200
    assert engineer.get("state/bgp").body["neighbors"] != {}
    assert engineer.get("state/bgp?vrf=blue").body["neighbors"] == {}
    assert engineer.get("state/ospf?vrf=blue").body["neighbors"] == []
    for question in ("prefix=198.51.100.1", "protocol=bgp", "prefix=10.0.0.0/8&within=true"):
        assert engineer.get(f"state/routes?vrf=blue&{question}").body["routes"] == [], question
    for part in ("bgp", "ospf", "routes", "routes?prefix=198.51.100.1", "ospf/database"):
        where = f"state/{part}{'&' if '?' in part else '?'}vrf="
        assert engineer.get(f"{where}nowhere").status == 404, part
        assert engineer.get(f"{where}Blue%20x").status == 422, part


def test_sessions_of_a_vrf_are_cleared_by_its_name(engineer: ApiClient) -> None:
    assert engineer.merge("config", VRFS).status == 200
    known = engineer.get("config/vrfs/blue/routing/bgp/neighbors").body
    (neighbor,) = known
    # The FRR of these tests has no sessions in VRFs: it is asked in the right one.
    told = engineer.post("actions/clear-bgp", {"neighbor": neighbor, "vrf": "blue"})
    assert (told.status, told.body["detail"].partition(":")[0]) == (
        409,
        f"bgpd refused 'clear bgp vrf blue {neighbor}'",
    )
    for question, status in (({"vrf": "nowhere"}, 404), ({"vrf": "Blue x"}, 422), ({}, 404)):
        assert engineer.post("actions/clear-bgp", {"neighbor": neighbor, **question}).status == status, (
            question
        )


def test_tools_run_in_a_vrf_that_is_there(engineer: ApiClient) -> None:
    assert engineer.merge("config", VRFS).status == 200
    refused = engineer.post("tools/ping", {"destination": "10.77.0.2", "vrf": "Blue x"})
    assert [one["pointer"] for one in refused.body["errors"]] == ["/vrf"]
    for tool in ("ping", "traceroute"):
        job = engineer.post(f"tools/{tool}", {"destination": "10.77.0.2", "vrf": "blue"})
        assert job.status == 202


def test_pages_of_the_default_vrf_say_so_where_there_are_others(engineer: ApiClient, browser: Client) -> None:
    pages = ("/", "/routes", "/static-routes", "/bgp", "/ospf", "/ospf/database", "/tools")
    for page in pages:
        assert "about the default VRF" not in get(browser, page), page
    assert engineer.merge("config", VRFS).status == 200
    for page in pages:
        shown = get(browser, page)
        assert "about the default VRF" in shown and "The router has 2 more" in shown, page
    for page in ("/vrfs", "/interfaces", "/nat"):
        assert "about the default VRF" not in get(browser, page), page
