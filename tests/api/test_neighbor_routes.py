"""Routes of a BGP neighbor and the OSPF database for viewers: REST, and the pages."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.test import Client

from appliance.engine.backend import BackendUnavailable
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get
from tests.recorded_frr import PEER, ROUTING, RecordedFrr

ROUTES = f"state/bgp/neighbors/{PEER}"
PAGE = f"/bgp/routes/received/{PEER}"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def frr(client_of: MakeClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch) -> RecordedFrr:
    """The FRR that the router in memory asks, and whose configuration it runs."""
    found = RecordedFrr("bgp_and_ospf_8_4")
    monkeypatch.setattr(router.routing, "ask", lambda question: question(found))
    engineer = client_of("engineer")
    ospf = {"router_id": "10.255.0.1", "interfaces": {"lan0": {"area": "0"}}}
    assert (
        engineer.merge("config/interfaces/wan0", {"addresses": ["192.0.2.2/30", "10.9.0.1/24"]}).status == 200
    )
    changed = {"policy": ROUTING["policy"], "bgp": ROUTING["bgp"], "ospf": ospf}
    assert engineer.merge("config/routing", changed).status == 200
    return found


@pytest.fixture
def viewer(frr: RecordedFrr, client_of: MakeClient) -> Client:
    return browser_of("viewer", client_of)


def _words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.unescape(page)))


def test_rest_tells_the_routes_with_the_verdict(frr: RecordedFrr, client_of: MakeClient) -> None:
    answer = client_of("viewer").get(f"{ROUTES}/received").body
    assert [route["status"] for route in answer["routes"]] == ["refused"] * 2 + ["accepted"] * 3
    last = answer["routes"][-1]
    assert last["policy"]["rule"] == "route map in, rule 10"
    assert last["communities"] == ["65000:666"]
    advertised = client_of("viewer").get(f"{ROUTES}/advertised?prefix=203.0.112.0/24").body
    assert advertised["routes"][0]["status"] == "not advertised"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{ROUTES}/sideways", 404),
        ("state/bgp/neighbors/nobody/received", 404),
        ("state/bgp/neighbors/192.0.2.77/received", 404),
        (f"{ROUTES}/received?prefix=nonsense", 422),
        (f"{ROUTES}/received?limit=100000", 422),
        (f"{ROUTES}/received?community=%3Cscript%3E", 422),
        (f"{ROUTES}/received?asn=-1", 422),
        ("state/ospf/database?type=nonsense", 422),
        ("state/ospf/database?lsa_id=nonsense", 422),
        ("state/ospf/database?type=external&lsa_id=198.51.101.0", 200),
    ],
)
def test_bad_questions_are_refused(frr: RecordedFrr, client_of: MakeClient, path: str, status: int) -> None:
    assert client_of("viewer").get(path).status == status
    assert not any("nonsense" in command or "script" in command for command in frr.asked)


def test_the_page_shows_received_routes(viewer: Client) -> None:
    words = _words(get(viewer, PAGE))
    assert "FRR counts 3 accepted prefixes" in words and "refused routes are kept" in words
    assert "prefix list no-private and route map in" in words
    assert re.search(r"10\.0\.0\.0/8 refused refuses prefix list no-private, rule 10", words), words
    assert "this router's AS 65000 is in its AS path" in words
    assert re.search(
        r"203\.0\.113\.0/24 best accepted permits route map in, rule 10 sets local preference", words
    )
    assert "65001:1:2" in words and "RT:65001:7" in words


def test_the_page_shows_advertised_routes_and_why_others_are_not(viewer: Client) -> None:
    page = f"/bgp/routes/advertised/{PEER}"
    words = _words(get(viewer, page))
    assert "198.18.0.0/24 best advertised permits route map out, rule 10" in words
    assert "this router" in words
    words = _words(get(viewer, f"{page}?prefix=203.0.0.0/16"))
    assert "not advertised" in words and "It has the community no-advertise" in words


def test_the_page_searches_and_pages_lead_to_each_other(viewer: Client) -> None:
    words = _words(get(viewer, f"{PAGE}?asn=64513"))
    assert "203.0.112.0/24" in words and "203.0.113.0/24" not in words
    assert "must be an address or a prefix" in _words(get(viewer, f"{PAGE}?prefix=nonsense"))
    assert "not among the routes that FRR keeps" in _words(get(viewer, f"{PAGE}?prefix=192.0.77.0/24"))
    # Fields that the form always has do not conflict with others.
    assert "must be" not in _words(get(viewer, f"{PAGE}?prefix=2001:db8::/32&match=longest&family=ipv4"))
    assert "needs a prefix" not in _words(get(viewer, f"{PAGE}?prefix=&match=longest&family=ipv4"))
    assert f'href="{PAGE}"' in get(viewer, f"/bgp/neighbors/{PEER}")
    assert "1\N{EN DASH}5 of 5" in _words(get(viewer, f"{PAGE}?offset=5000")), "past the end is the last page"
    assert viewer.get(f"/bgp/routes/sideways/{PEER}", secure=True).status_code == 404
    assert viewer.get("/bgp/routes/received/192.0.2.77", secure=True).status_code == 404


def test_what_a_neighbor_says_is_shown_as_text(frr: RecordedFrr, viewer: Client) -> None:
    key = "bgpd: show bgp ipv4 unicast json detail"
    frr.answers[key] = (
        frr.answers[key]
        .replace('"65001 64513 64512"', json.dumps(HOSTILE))
        .replace('"65000:666"', json.dumps(HOSTILE))
    )
    page = get(viewer, PAGE)
    assert HOSTILE not in page
    assert html.escape(HOSTILE) in page
    lsa = "ospfd: show ip ospf database external 198.51.101.0 json"
    frr.answers[lsa] = (
        frr.answers[lsa].replace('"36a0"', json.dumps(HOSTILE)).replace('"0.0.0.0"', json.dumps(HOSTILE))
    )
    page = get(viewer, "/ospf/lsa/external/198.51.101.0/10.255.0.2")
    assert HOSTILE not in page
    assert html.escape(HOSTILE) in page


def test_the_database_is_a_page_and_each_lsa_has_one(viewer: Client) -> None:
    page = get(viewer, "/ospf/database")
    words = _words(page)
    assert "198.51.100.128 198.51.100.128/25 external whole AS 10.255.0.2" in words
    link = "/ospf/lsa/router/10.255.0.1/10.255.0.1?area=0.0.0.7"
    assert f'href="{link}"' in page
    words = _words(get(viewer, link))
    assert "Area 0.0.0.7" in words and "36 bytes" in words and "networkAddress 10.9.2.0" in words
    assert "no such LSA" in _words(get(viewer, "/ospf/lsa/external/198.51.102.0/10.255.0.2"))
    assert viewer.get("/ospf/lsa/nonsense/198.51.102.0/10.255.0.2", secure=True).status_code == 404
    assert "Nothing matches" in _words(get(viewer, "/ospf/database?type=opaque-area"))


@pytest.mark.parametrize("path", [PAGE, "/ospf/database"])
def test_a_table_that_is_too_long_says_so(frr: RecordedFrr, viewer: Client, path: str) -> None:
    def much(key: str, *fields: str) -> None:
        shown: Any = json.loads(frr.answers[key])
        inner = shown.get("ipv4Unicast", shown)
        inner.update(dict.fromkeys(fields, 1_000_000))
        frr.answers[key] = json.dumps(shown)

    much("bgpd: show bgp summary json", "ribCount")
    much("ospfd: show ip ospf json", "lsaExternalCounter")
    frr.asked.clear()
    words = _words(get(viewer, path))
    assert "lists of up to" in words and "are shown, because FRR does nothing" in words
    assert not any(command.endswith(("json detail", "database json")) for command in frr.asked)
    assert not any("received-routes" in command for command in frr.asked)


def test_bgpd_that_does_not_answer_is_said(
    frr: RecordedFrr, client_of: MakeClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_question: Any) -> Any:
        raise BackendUnavailable("frr", "bgpd: connection refused")

    monkeypatch.setattr(router.routing, "ask", gone)
    assert client_of("viewer").get(f"{ROUTES}/received").status == 503
    assert "connection refused" in _words(get(browser_of("viewer", client_of), PAGE))
