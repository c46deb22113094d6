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
    assert engineer.get("state/vrfs/blue/bgp").body["neighbors"] == {}
    assert engineer.get("state/vrfs/blue/ospf").body["neighbors"] == []
    assert engineer.get("state/vrfs/blue/route?destination=198.51.100.1").body == {"routes": []}
    assert engineer.get("state/vrfs/nowhere/bgp").status == 404
    assert engineer.get("state/vrfs/blue%20x/bgp").status in (404, 422)
    assert engineer.get("state/vrfs/blue/route?destination=fe80::1%25x").status == 422


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
