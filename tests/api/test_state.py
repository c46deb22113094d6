"""Live state passes through, typed."""

from __future__ import annotations

import pytest
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


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ("routes?within=true", "/within"),
        ("routes?longest=true", "/longest"),
        ("routes?covering=true", "/covering"),
        ("routes?prefix=10.0.0.0/8&within=true&covering=true", "/covering"),
        ("routes?prefix=10.0.0.0/8&family=ipv6", "/family"),
        ("bgp/neighbors/192.0.2.1/received?within=true", "/within"),
        ("bgp/neighbors/192.0.2.1/received?prefix=10.0.0.0/8&longest=true&within=true", "/within"),
        ("bgp/neighbors/192.0.2.1/advertised?prefix=2001:db8::1&family=ipv4", "/family"),
    ],
)
def test_what_would_be_ignored_is_refused(viewer: ApiClient, question: str, field: str) -> None:
    answer = viewer.get(f"state/{question}")
    assert answer.status == 422
    assert [problem["pointer"] for problem in answer.body["errors"]] == [field]


def test_a_family_that_is_the_prefixes_own_is_taken(viewer: ApiClient) -> None:
    for question in (
        "routes?prefix=2001:db8::1&family=ipv6",
        "routes?prefix=10.0.0.0/8&family=ipv4&within=true",
    ):
        assert viewer.get(f"state/{question}").status == 200
    for family, prefix in (("ipv4", "10.0.0.1"), ("ipv6", "2001:db8::/32")):
        neighbor = f"state/bgp/neighbors/192.0.2.1/received?family={family}&prefix={prefix}"
        assert viewer.get(neighbor).body["family"] == family


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
