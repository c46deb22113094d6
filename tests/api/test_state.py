"""Live state passes through, typed."""

from __future__ import annotations

from django.test import Client

from appliance.state import PARTS
from appliance.state.counters import COUNTERS
from appliance.state.system import SYSTEM
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from webui.accounts.models import User


def test_every_part_says_what_the_agent_says(viewer: ApiClient, router: RouterInMemory) -> None:
    for part in PARTS:
        if part in (SYSTEM, COUNTERS):
            continue  # no two readings of a machine, or of what passes it, are the same
        if "vrf" in part.in_path:
            continue  # this document has none: test_vrf_pages.py asks where there are some
        given = dict.fromkeys(part.in_path, "192.0.2.1")
        if "direction" in given:
            given["direction"] = "received"
        told = router.client.state(part, part.asked(given)).model_dump(mode="json")
        answer = viewer.get(f"state/{part.where.format(**given)}")
        assert (answer.status, answer.body) == (200, told), part.name


def test_one_neighbor(viewer: ApiClient) -> None:
    assert viewer.get("state/bgp/neighbors/192.0.2.1").body["state"] == "established"
    assert viewer.get("state/bgp/neighbors/192.0.2.9").status == 404


def test_a_page_of_routes(viewer: ApiClient) -> None:
    answer = viewer.get("state/routes?prefix=10.0.0.1&longest=true&family=ipv4&limit=5&offset=0").body
    assert (answer["routes"], answer["limit"]) == ([], 5)


def test_a_neighbor_has_no_zone(viewer: ApiClient) -> None:
    for zone in ("x", "x%00configure terminal", "x json"):
        assert viewer.get(f"state/bgp/neighbors/fe80::1%25{zone}").status == 404


def test_a_table_too_long_for_a_list_is_counted(
    viewer: ApiClient, router: RouterInMemory, client_of: MakeClient
) -> None:
    router.routing.routes = {"static": 12, "bgp": 1_000_000}
    answer = viewer.get("state/routes").body
    assert answer["unlisted"] == {"ipv4": 1_000_012}
    assert answer["counts"]["ipv4"]["bgp"] == {"rib": 1_000_000, "fib": 1_000_000}
    assert answer["note"].startswith("There are 1,000,012 IPv4 routes;")
    client_of("viewer")
    browser = Client(headers={"host": "testserver"})
    browser.force_login(User.objects.get(username="viewer"), "django.contrib.auth.backends.ModelBackend")
    page = browser.get("/routes", secure=True).content.decode()
    assert "There are 1,000,012 IPv4 routes;" in page
    assert '<a href="?protocol=static&amp;family=ipv4">static 12</a>' in page
    assert "No route matches" not in page
