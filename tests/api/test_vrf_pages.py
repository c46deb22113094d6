"""VRFs in the browser: the list, a single VRF, and its content."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from appliance.routing.view import VrfRoutingView
from appliance.state.bfd import BfdSession
from appliance.state.bgp import BgpNeighborDetail, BgpNeighborState, BgpState
from appliance.state.neighbors import NeighborState
from tests.api.conftest import ApiClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser, get, post
from tests.bgp_answers import UP

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


PAGES_OF_A_VRF = ("/routes", "/static-routes", "/bgp", "/ospf", "/ospf/database", "/tools")
OTHER_PAGES = ("/vrfs", "/interfaces", "/nat", "/bfd", "/neighbors", "/policies")


class _Blue:
    """The tests' FRR has no VRFs: this is blue's answer about its session."""

    def __init__(self, view: VrfRoutingView) -> None:
        self._view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def bgp_state(self) -> BgpState:
        up = BgpNeighborState(state="established", remote_asn=65010, uptime_ms=60_000)
        return BgpState(asn=65000, router_id="10.77.0.1", neighbors={"10.77.0.2": up})

    def bgp_neighbor(self, address: str) -> BgpNeighborDetail:
        return BgpNeighborDetail(state="established", remote_asn=65010, local_asn=65000, last_reset="in blue")


@pytest.fixture
def blue(engineer: ApiClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch) -> ApiClient:
    """The VRFs are committed, and blue's session is up."""
    assert engineer.merge("config", VRFS).status == 200
    real = router.routing.in_vrf
    monkeypatch.setattr(
        router.routing, "in_vrf", lambda vrf: _Blue(real(vrf)) if vrf == "blue" else real(vrf)
    )
    return engineer


def _offered(page: str) -> list[str]:
    """VRFs that the page offers by links or by a select, in their order."""
    links = re.search(r'<nav class="menu-items menu-long" aria-label="VRF">(.*?)</nav>', page, re.DOTALL)
    if links:
        return [html.unescape(one) for one in re.findall(r'href="([^"]*)"', links[1])]
    select = re.search(r'<select class="control" name="vrf">(.*?)</select>', page, re.DOTALL)
    return re.findall(r'<option value="([^"]*)"', select[1]) if select else []


def _api(page: str) -> str:
    return html.unescape(page[page.index("Show me the API call") :])


def test_pages_of_routing_offer_the_vrfs_where_there_are_some(engineer: ApiClient, browser: Client) -> None:
    for page in (*PAGES_OF_A_VRF, *OTHER_PAGES):
        assert _offered(get(browser, page)) == [], page
    assert engineer.merge("config", VRFS).status == 200
    for page in PAGES_OF_A_VRF:
        shown = get(browser, page)
        by_link = [page, f"{page}?vrf=blue", f"{page}?vrf=red"]
        assert _offered(shown) in (by_link, ["", "blue", "red"]), page
        assert "about the default VRF" not in shown, page
        of_blue = get(browser, f"{page}?vrf=blue")
        assert 'aria-current="page">blue</a>' in of_blue or '"blue" selected' in of_blue, page
        assert "vrf=blue" in _api(of_blue) or '"vrf": "blue"' in _api(of_blue) or page == "/static-routes", (
            page
        )
        assert "There is no VRF nowhere." in get(browser, f"{page}?vrf=nowhere", 404), page
        assert get(browser, f"{page}?vrf=default"), page
    for page in OTHER_PAGES:
        assert _offered(get(browser, page)) == [], page
    dashboard = get(browser, "/")
    assert "about the default VRF" in dashboard
    assert "The router has 2 more" in dashboard


def test_the_lists_are_those_of_the_vrf(blue: ApiClient, browser: Client) -> None:
    static = get(browser, "/static-routes?vrf=blue")
    assert "/edit/vrfs/blue/routing/static/198.51.100.0~124" in static
    assert "/add/vrfs/blue/routing/static" in static
    assert "/config/vrfs/blue/routing/static" in _api(static)
    assert "10.10.0.2" not in static
    assert "No static route is configured." in get(browser, "/static-routes?vrf=red")
    assert "10.77.0.2" not in get(browser, "/static-routes")

    bgp = get(browser, "/bgp?vrf=blue")
    assert 'href="/bgp/neighbors/10.77.0.2?vrf=blue"' in bgp
    assert "established" in bgp
    assert "192.0.2.1" not in bgp.replace("192.0.2.129", "")
    assert "/edit/vrfs/blue/routing/bgp/neighbors/10.77.0.2" in bgp
    assert "/object/vrfs/blue/routing/bgp/peer_groups/inside-blue" in bgp
    assert "/state/bgp?vrf=blue" in _api(bgp)
    group = get(browser, "/object/vrfs/blue/routing/bgp/peer_groups/inside-blue")
    assert "Peer group inside-blue in VRF blue" in group
    assert 'href="/bgp?vrf=blue"' in group
    assert 'href="/bgp/neighbors/10.77.0.2?vrf=blue"' in group

    # A VRF without an instance is offered one of its own.
    assert "BGP does not run." in get(browser, "/bgp?vrf=red")
    assert "/edit/vrfs/red/routing/bgp" in get(browser, "/bgp?vrf=red")


def test_sorting_filtering_refreshing_and_exporting_stay_in_the_vrf(blue: ApiClient, browser: Client) -> None:
    page = html.unescape(get(browser, "/bgp?vrf=blue&q=10.77"))
    assert 'hx-get="/table/bgp_neighbors?vrf=blue&q=10.77"' in page
    assert "/table/bgp_peer_groups/export.csv?vrf=blue" in page
    assert 'name="vrf" value="blue"' in page
    assert "?vrf=blue&q=10.77&sort=State" in page
    assert "/bgp?q=10.77" in _offered(page)[0]
    for form, has in (("csv", "10.77.0.2"), ("json", '"name": "10.77.0.2"')):
        assert f"/table/bgp_neighbors/export.{form}?vrf=blue&q=10.77" in page
        answer = browser.get(f"/table/bgp_neighbors/export.{form}?vrf=blue", secure=True)
        assert has in answer.content.decode()
        assert f"bgp_neighbors-blue.{form}" in answer["Content-Disposition"]
    alone = html.unescape(get(browser, "/table/bgp_neighbors?vrf=blue"))
    assert "established" in alone
    assert "/table/bgp_neighbors/act?vrf=blue" in alone
    assert 'name="next" value="/bgp?vrf=blue"' in alone
    get(browser, "/table/bgp_neighbors?vrf=nowhere", 404)

    prefixes = get(browser, "/routes?vrf=blue&prefix=198.51.100.1")
    assert 'href="/routes?vrf=blue">Clear' in prefixes
    database = html.unescape(get(browser, "/ospf/database?vrf=red&type=router"))
    assert "OSPF does not run." in database


def test_one_neighbor_of_a_vrf_and_its_routes(blue: ApiClient, browser: Client) -> None:
    page = html.unescape(get(browser, "/bgp/neighbors/10.77.0.2?vrf=blue"))
    assert "VRF blue" in page
    assert "in blue" in page
    assert "AS 65010" in page
    assert 'href="/bgp?vrf=blue"' in page
    assert "/edit/vrfs/blue/routing/bgp/neighbors/10.77.0.2" in page
    assert "/state/bgp/neighbors/10.77.0.2?vrf=blue" in _api(page)
    assert "Clear the session with 10.77.0.2 in VRF blue?" in page
    for direction in ("received", "advertised"):
        where = f"/bgp/routes/{direction}/10.77.0.2?vrf=blue"
        assert where in page
        routes = html.unescape(get(browser, where))
        assert 'name="vrf" value="blue"' in routes
        assert f"/state/bgp/neighbors/10.77.0.2/{direction}?vrf=blue" in _api(routes)
        get(browser, f"/bgp/routes/{direction}/10.77.0.2", 404)
    # Neither the other way round, nor in a VRF that has no such neighbor.
    for elsewhere in ("/bgp/neighbors/10.77.0.2", "/bgp/neighbors/10.77.0.2?vrf=red"):
        get(browser, elsewhere, 404)


def test_buttons_act_in_the_vrf(blue: ApiClient, browser: Client, router: RouterInMemory) -> None:
    router.routing.frr.sessions["10.77.0.2"] = UP
    page = get(browser, "/bgp/neighbors/10.77.0.2?vrf=blue")
    forms = re.findall(r'<form method="post" id="bgp_neighbor-0-\d".*?</form>', page, re.DOTALL)
    assert len(forms) == 3
    done = []
    for form in forms:
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', html.unescape(form)))
        assert fields["vrf"] == "blue"
        assert fields["next"] == "/bgp/neighbors/10.77.0.2?vrf=blue"
        fields.pop("csrfmiddlewaretoken")
        assert "Nothing was done" not in post(browser, "/actions/clear-bgp", **fields)
        done.append(router.routing.frr.operations[-1].text)
    assert done == [
        "clear bgp vrf blue 10.77.0.2",
        "clear bgp vrf blue 10.77.0.2 soft in",
        "clear bgp vrf blue 10.77.0.2 soft out",
    ]


def test_objects_of_a_vrf_are_made_changed_and_removed(blue: ApiClient, browser: Client) -> None:
    # A VRF without any routing gets a static route and its BGP.
    key = {"@key": "203.0.113.0/24"}
    added = browser.post(
        "/add/vrfs/red/routing/static", {**key, "/blackhole": "true"}, secure=True, follow=True
    )
    assert added.redirect_chain[-1][0].endswith("/static-routes?vrf=red"), added.content.decode()[-3000:]
    shown = added.content.decode()
    assert "Static route 203.0.113.0/24 in VRF red is in your changes." in html.unescape(shown)
    assert "203.0.113.0/24" in shown
    assert "203.0.113.0/24" not in get(browser, "/static-routes")
    made = browser.post("/edit/vrfs/red/routing/bgp", {"/asn": "65001"}, secure=True, follow=True)
    assert made.redirect_chain[-1][0].endswith("/bgp?vrf=red"), made.content.decode()[-3000:]
    assert "Add BGP neighbor" in made.content.decode()

    page = post(browser, "/table/static/act?vrf=red", name="203.0.113.0/24", action="delete")
    assert "1 static route will be removed when you commit." in page
    assert "203.0.113.0/24" not in get(browser, "/static-routes?vrf=red")
    page = post(browser, "/delete/vrfs/blue/routing/static/198.51.100.0~124")
    assert "Static route 198.51.100.0/24 in VRF blue will be removed when you commit." in html.unescape(page)
    changes = html.unescape(get(browser, "/changes"))
    assert "Static route 198.51.100.0/24 in VRF blue" in changes
    assert "BGP in VRF red" in changes


def test_a_vrf_that_is_not_committed_has_pages_and_no_state(browser: Client) -> None:
    post(browser, "/add/vrfs", **{"@key": "green"})
    page = get(browser, "/static-routes?vrf=green")
    assert "No static route is configured." in page
    assert _offered(page) == ["/static-routes", "/static-routes?vrf=green"]
    assert "VRF green is not committed yet: it has no routes." in get(browser, "/routes?vrf=green")
    assert "BGP does not run." in get(browser, "/bgp?vrf=green")


def test_the_page_of_a_vrf_leads_to_its_routing(blue: ApiClient, browser: Client) -> None:
    page = get(browser, "/object/vrfs/blue")
    for path in ("/routes", "/static-routes", "/bgp", "/ospf", "/tools"):
        assert f'href="{path}?vrf=blue"' in page
        get(browser, f"{path}?vrf=blue")


def test_bfd_and_neighbors_say_which_vrf_each_is_in(
    engineer: ApiClient, browser: Client, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    router.dataplane.learned = [
        NeighborState(address=address, interface=interface, mac="02:00:00:00:00:01", state="reachable")
        for address, interface in (("10.77.0.2", "loop7"), ("10.10.0.2", "lan0"))
    ]
    sessions = tuple(
        BfdSession(
            peer="10.77.0.2",
            vrf=vrf,
            multihop=True,
            state="up",
            passive=False,
            detect_multiplier=3,
            transmit_interval_ms=300,
            receive_interval_ms=300,
            echo_transmit_interval_ms=0,
            remote_detect_multiplier=3,
            remote_transmit_interval_ms=300,
            remote_receive_interval_ms=300,
        )
        for vrf in (None, "blue")
    )
    monkeypatch.setattr(router.routing, "_ask", lambda _: sessions)
    for page in ("/neighbors", "/bfd"):
        assert ">VRF</a>" not in get(browser, page), page
    assert engineer.merge("config", VRFS).status == 200
    for page in ("/neighbors", "/bfd"):
        shown = get(browser, page)
        assert ">VRF</a>" in shown, page
        assert 'href="/object/vrfs/blue">blue</a>' in shown, page
        assert "<span>default</span>" in shown, page
        assert shown.count("10.77.0.2</span>") == 1 if page == "/neighbors" else True
    assert get(browser, "/bfd").count("10.77.0.2 over several hops") == 2


def test_the_tools_run_in_the_vrf_that_is_picked(blue: ApiClient, browser: Client) -> None:
    from webui.jobs.models import Job

    assert get(browser, "/tools?vrf=blue").count('<option value="blue" selected>') == 2
    for tool in ("ping", "traceroute"):
        post(browser, f"/tools/{tool}", destination="10.77.0.2", vrf="blue")
        assert Job.objects.order_by("-created_at")[0].arguments["vrf"] == "blue"
    assert "must be the name of a VRF" in post(browser, "/tools/ping", destination="10.77.0.2", vrf="Blue x")


def test_a_search_for_routes_of_another_vrf_takes_the_rest_of_the_page_along(
    blue: ApiClient, browser: Client
) -> None:
    def searched(shown: str) -> str:
        headers = {"hx-request": "true", "hx-current-url": f"https://testserver/routes{shown}"}
        answer = browser.get("/routes?vrf=blue&prefix=198.51.100.1", headers=headers, secure=True)
        return html.unescape(answer.content.decode())

    from_default, from_blue = searched(""), searched("?vrf=blue")
    for page in (from_default, from_blue):
        assert '<span id="routes-clear" hx-swap-oob="true">' in page
        assert 'href="/routes?vrf=blue">Clear' in page
    assert "/state/routes?limit=100&vrf=blue" in from_default
    assert "routes-api" not in from_blue


def test_a_neighbor_is_offered_in_each_vrf_that_has_one_of_its_address(
    blue: ApiClient, browser: Client
) -> None:
    where = "/bgp/neighbors/10.77.0.2"
    assert _offered(get(browser, f"{where}?vrf=blue")) == []
    neighbor = {"remote_asn": 65020, "ipv4_unicast": {}}
    red = {"asn": 65001, "router_id": "10.77.0.1", "neighbors": {"10.77.0.2": neighbor}}
    merged = blue.merge(
        "config",
        {
            "interfaces": {"loop8": {"type": "loopback", "addresses": ["10.77.0.1/24"], "vrf": "red"}},
            "vrfs": {"red": {"routing": {"bgp": red}}},
        },
    )
    assert merged.status == 200, merged.body
    assert _offered(get(browser, f"{where}?vrf=blue")) == [f"{where}?vrf=blue", f"{where}?vrf=red"]
    assert "AS 65020" in get(browser, f"{where}?vrf=red")
    get(browser, where, 404)
