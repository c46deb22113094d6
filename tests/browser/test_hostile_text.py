"""Hostile text stays text: in every field that a user can type into, and in every string of the agent.

The agent is a real one over a data plane and a routing daemon of dictionaries, which give hostile answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver

from appliance.features.bgp.index_client import BgpIndexClient
from appliance.routing.rows import RibRow
from appliance.state.bgp import BgpNeighborDetail, BgpState
from appliance.state.health import PartHealth
from appliance.state.interfaces import InterfaceState
from appliance.state.neighbors import NeighborState
from appliance.state.ospf import OspfState
from appliance.state.routes import RibHop, RouteCount
from tests.api.router_in_memory import RouterInMemory
from tests.browser.browser_page import BrowserPage
from tests.browser.own_server import tab_on_a_server
from tests.browser.screenshots import PAGES
from tests.toy_bgp_index import READY, ToyBgpIndex, row

HOSTILE = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "'-window.hacked-'",
    "{{ 7*7 }}{% csrf_token %}",
    "</textarea><svg onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "\u202eevil\u0000\r\nhx-get=/users",
)
_FINGERPRINT = """
const found = [];
if (window.hacked !== undefined) found.push("a script ran");
for (const element of document.querySelectorAll("*")) {
  for (const name of element.getAttributeNames()) {
    if (name.startsWith("on")) found.push(`${element.tagName} has ${name}`);
  }
}
if (document.querySelector("img[src=x], svg[onload], script:not([src]):not([type='application/json'])")) {
  found.push("an element was made");
}
for (const link of document.querySelectorAll("a[href]")) {
  if (link.protocol === "javascript:") found.push("a link runs a script");
}
return found;
"""


def _strings() -> Iterator[str]:
    while True:
        yield from HOSTILE


def _poison(value: Any, texts: Iterator[str]) -> Any:
    """The answer with every string replaced, and hostile keys where keys are names."""
    if isinstance(value, dict):
        return {key: _poison(below, texts) for key, below in value.items()}
    if isinstance(value, list):
        return [_poison(below, texts) for below in value]
    return next(texts) if isinstance(value, str) else value


@pytest.fixture
def router(settings: Any) -> Iterator[RouterInMemory]:
    """A router whose every word is hostile; the web half talks to it over plain HTTP."""
    from django.core.cache import cache

    from webui.agent import replace_agent

    settings.SECURE_SSL_REDIRECT = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = False
    settings.STORAGES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    texts = _strings()
    running = RouterInMemory()
    index = running.directory / "index.sock"
    running.bgp_index = BgpIndexClient(index)
    with ToyBgpIndex(index) as toy, running:
        toy.status = READY
        toy.rows = [_poison(row(number, large_communities=["x"] * 9), texts) for number in range(9)]
        interfaces = [
            {"name": name, "type": "x", "link": "x", "mac": "x", "driver": "x", "device": "x", "note": "x"}
            for name in ("lan0", *HOSTILE[:2])
        ]
        sessions = {
            address: {"state": "x", "description": "x", "router_id": "x", "last_reset": "x", "families": {}}
            for address in ("192.0.2.1", HOSTILE[0], HOSTILE[1])
        }
        neighbors = [{"router_id": "x", "address": "x", "interface": "x", "state": "x"} for _ in HOSTILE]
        links = [{"interface": "lan0", "address": text, "mac": text, "state": text} for text in HOSTILE]

        def states(rows: list[dict[str, Any]]) -> list[InterfaceState]:
            made = {"enabled": True, "mtu": 1500}
            return [
                InterfaceState.model_validate({**_poison(row, texts), **made, "name": row["name"]})
                for row in rows
            ]

        hops = tuple(
            RibHop.model_validate(_poison({"address": "x", "interface": "x"}, texts)) for _ in range(3)
        )
        route = RibRow("0.0.0.0/0", next(texts), hops, uptime=next(texts))

        plane, routing = running.dataplane, running.routing
        for owner, name, answer in (
            (plane, "interfaces_state", states(interfaces)),
            (plane, "neighbors", [NeighborState.model_validate(link) for link in links]),
            (plane, "health", PartHealth(state="up", detail=HOSTILE[0], label=HOSTILE[1])),
            (
                routing,
                "bgp_state",
                BgpState.model_validate({"router_id": HOSTILE[1], "neighbors": _poison(sessions, texts)}),
            ),
            (
                routing,
                "bgp_neighbor",
                BgpNeighborDetail.model_validate(_poison(sessions["192.0.2.1"], texts)),
            ),
            (
                routing,
                "ospf_state",
                OspfState.model_validate(
                    {"neighbors": _poison(neighbors, texts), "areas": {HOSTILE[0]: {"lsas": 1}}}
                ),
            ),
            (routing, "rib_counts", {"static": RouteCount(rib=1, fib=1)}),
            (routing, "rib_list", [route]),
            (routing, "rib_entry", [route]),
            (routing, "health", PartHealth(state=HOSTILE[1], detail=HOSTILE[1])),
        ):
            setattr(owner, name, lambda *_args, answer=answer, **_more: answer)
        replace_agent(running.client)
        cache.clear()
        yield running
        replace_agent(None)
        cache.clear()


@pytest.fixture
def page(driver: webdriver.Chrome, transactional_db: None, router: RouterInMemory) -> Iterator[BrowserPage]:
    """A tab with an administrator logged in, on a server started with this test's settings."""
    with tab_on_a_server(driver, "admin") as tab:
        yield tab


def _harmless(page: BrowserPage, where: str) -> None:
    assert page.driver.execute_script(_FINGERPRINT) == [], where
    refused = [entry for entry in page.complaints() if "Content Security Policy" in entry]
    assert refused == [], where


def test_whatever_neighbors_say_is_found_as_text(page: BrowserPage) -> None:
    page.open("/bgp/search?family=ipv4")
    assert HOSTILE[0] in page.text("#bgp-search")
    _harmless(page, "/bgp/search")


def test_whatever_the_router_says_is_shown_as_text(page: BrowserPage) -> None:
    page.open("/bgp")
    page.sees("<script>window.hacked=1</script>", "#bgp-neighbors")
    for name, path in PAGES.items():
        page.open(path)
        _harmless(page, name)
    page.open("/interfaces/lan0")
    page.sees("<script>window.hacked=1</script>")


def test_whatever_is_typed_into_any_field_is_shown_as_typed(page: BrowserPage) -> None:
    forms = [path for path in PAGES.values() if path.startswith(("/edit/", "/add/"))]
    for path in (
        "/edit/interfaces/lan0",
        "/edit/routing/bgp/neighbors/192.0.2.1",
        "/add/acls/edge-in/rules",
        *forms,
    ):
        page.open(path)
        inputs = page.all("form[data-object-form] input[type=text], form[data-object-form] textarea")
        if not inputs:
            continue
        page.driver.execute_script(
            "const [fields, texts] = arguments;"
            "fields.forEach((field, index) => { field.value = texts[index % texts.length]; });"
            "document.querySelectorAll('[data-opens]:not(:checked)').forEach((box) => box.click());",
            inputs,
            [text.replace("\u0000", "") for text in HOSTILE],
        )
        page.submit("form[data-object-form] button[type=submit]")
        page.sees("Not saved")
        _harmless(page, path)
        assert any(
            HOSTILE[0] in (one.get_attribute("value") or "")
            for one in page.all("form[data-object-form] input")
        ), path


def test_searches_names_and_comments(page: BrowserPage) -> None:
    from urllib.parse import quote

    for text in HOSTILE:
        for path in (
            "/history?q=",
            "/audit?q=",
            "/static-routes?q=",
            "/routes?prefix=",
            "/policies?kind=",
            "/acls/",
            "/interfaces/",
        ):
            page.open(path + quote(text, safe=""))
            _harmless(page, path)
    page.open("/acls/edge-in")
    page.driver.execute_script(
        "document.querySelector('#paste-rules').value = arguments[0]", "\n".join(HOSTILE[:6])
    )
    page.submit("#paste form button[type=submit]")
    page.sees("Nothing was saved.")
    _harmless(page, "paste")
    page.open("/tokens")
    page.fill("#token-name", HOSTILE[1])
    page.submit("form.stack button[type=submit]")
    page.sees('"><img src=x', "#tokens")
    _harmless(page, "tokens")
