"""Objects that do nothing, for viewers: REST, the page of static routes, and the command line's table."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from appliance.state.objects import OBJECTS
from appliance.state.static_routes import STATIC_ROUTES
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get

FAR, PREFIX = "172.16.9.9", "203.0.113.0/24"


@pytest.fixture
def told(client_of: MakeClient, router: RouterInMemory) -> Client:
    """A viewer's browser on a router whose FRR has no route by any next hop."""
    engineer = client_of("engineer")
    route = {"next_hops": [{"address": FAR}, {"address": "10.10.0.2"}]}
    assert engineer.put("config/routing/static/203.0.113.0~124", route).status == 200
    return browser_of("viewer", client_of)


def test_static_routes_and_their_next_hops_over_rest(told: Client, client_of: MakeClient) -> None:
    viewer = client_of("viewer")
    found = viewer.get("state/static-routes").body
    route = next(one for one in found["routes"] if one["name"] == PREFIX)
    assert (route["state"], route["pointer"]) == ("inactive", "/routing/static/203.0.113.0~124")
    assert [(one["name"], one["why"]) for one in route["parts"]] == [
        (FAR, f"no route leads to {FAR}"),
        ("10.10.0.2", "no route leads to 10.10.0.2"),
    ]
    assert found["counts"] == {"inactive": 1, "working": 1}
    listed = viewer.get("state/objects").body["objects"]
    assert {one["name"] for one in listed} == {PREFIX}
    working = viewer.get("state/objects?state=working").body["objects"]
    assert [one["name"] for one in working] == ["198.51.100.0/24"]
    assert viewer.get("state/nat/mappings").body["mappings"] == []
    assert viewer.get("state/static-routes?vrf=none").status == 404


def test_the_list_of_static_routes_says_which_are_not_used(told: Client) -> None:
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", get(told, "/static-routes")))
    assert "inactive" in page and f"no route leads to {FAR}" in page and "1 inactive, 1 working." in page


def test_the_page_of_a_static_route_says_that_it_is_not_used(told: Client) -> None:
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", get(told, "/object/routing/static/203.0.113.0~124")))
    assert re.search(rf"State inactive Why no route leads to {FAR}", page), page


def test_the_command_line_shows_them_as_tables(told: Client, client_of: MakeClient) -> None:
    answer = STATIC_ROUTES.answer.model_validate(client_of("viewer").get("state/static-routes").body)
    assert STATIC_ROUTES.table is not None and OBJECTS.table is not None
    assert {row["name"]: row["state"] for row in STATIC_ROUTES.table.cells(answer)}[PREFIX] == "inactive"
    objects = OBJECTS.answer.model_validate(client_of("viewer").get("state/objects").body)
    assert {row["noun"] for row in OBJECTS.table.cells(objects)} == {"static route"}
