"""BFD for viewers: REST, the page with its profiles, and the pages of the watched objects."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get
from tests.bfd_answers import bfdd

PROFILE = {"detect_multiplier": 5, "transmit_interval_ms": 100, "passive": True}


@pytest.fixture
def watched(client_of: MakeClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A viewer's browser on a router that watches its neighbor."""
    monkeypatch.setattr(router.routing, "ask", lambda question: question(bfdd()))
    engineer = client_of("engineer")
    assert engineer.put("config/routing/bfd/profiles/fast", PROFILE).status == 200
    assert engineer.merge("config/routing/bgp/neighbors/192.0.2.1", {"bfd_profile": "fast"}).status == 200
    interface = {"area": "0", "bfd_profile": "fast"}
    assert engineer.merge("config/routing", {"ospf": {"interfaces": {"lan0": interface}}}).status == 200
    return browser_of("viewer", client_of)


def _words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_sessions_are_told_over_rest(watched: Client, client_of: MakeClient) -> None:
    shown = client_of("viewer").get("state/bfd").body["sessions"]
    assert [one["peer"] for one in shown] == ["10.10.0.9", "192.0.2.1", "2001:db8::9"]
    assert shown[0]["reason"] == "control detection time expired"
    assert shown[1]["detection_time_ms"] == 600


def test_the_page_shows_sessions_with_reasons_and_profiles_with_their_users(watched: Client) -> None:
    words = _words(get(watched, "/bfd"))
    assert "10.10.0.9 on lan0" in words and "control detection time expired" in words
    assert "2001:db8::9 over several hops" in words
    assert "the neighbor says: administratively down" in words
    assert "100 / 300" in words and "passive" in words
    profile = _words(get(watched, "/object/routing/bfd/profiles/fast"))
    assert "BGP neighbor 192.0.2.1" in profile and "OSPF interface lan0" in profile


def test_neighbor_and_interface_show_the_session_that_watches_them(watched: Client) -> None:
    neighbor = _words(get(watched, "/bgp/neighbors/192.0.2.1"))
    assert re.search(r"BFD Neighbor State Detection time Why not up 192\.0\.2\.1 up 600 ms", neighbor), (
        neighbor
    )
    interface = _words(get(watched, "/object/routing/ospf/interfaces/lan0"))
    assert re.search(r"10\.10\.0\.9 down \S control detection time expired", interface), interface


def test_a_profile_in_use_is_not_removed(watched: Client, client_of: MakeClient) -> None:
    refused = client_of("engineer").delete("config/routing/bfd/profiles/fast")
    assert refused.status == 422
    pointers = [problem["pointer"] for problem in refused.body["errors"]]
    assert "/routing/bgp/neighbors/192.0.2.1/bfd_profile" in pointers
