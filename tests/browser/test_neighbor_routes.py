"""Routes of a neighbor and the OSPF database in a browser, and the text of neighbors in them.

The agent is a real one; FRR is a recording, in which a neighbor has put what it could into AS paths and LSAs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver

from tests.api.router_in_memory import DOCUMENT, RouterInMemory
from tests.browser.browser_page import BrowserPage
from tests.browser.own_server import tab_on_a_server
from tests.browser.test_hostile_text import HOSTILE, _harmless
from tests.recorded_frr import PEER, ROUTING, RecordedFrr

_PATH = '"65001 64513 64512"'
_LSA = "ospfd: show ip ospf database external 198.51.101.0 json"
_LIST = "bgpd: show bgp ipv4 unicast json detail"


def _document() -> dict[str, Any]:
    ospf = {"router_id": "10.255.0.1", "interfaces": {"lan0": {"area": "0"}}}
    wan0 = {**DOCUMENT["interfaces"]["wan0"], "addresses": ["192.0.2.2/30", "10.9.0.1/24"]}
    return {
        **DOCUMENT,
        "interfaces": {**DOCUMENT["interfaces"], "wan0": wan0},
        "routing": {**ROUTING, "static": {}, "ospf": ospf},
    }


@pytest.fixture
def frr() -> RecordedFrr:
    return RecordedFrr("bgp_and_ospf_8_4")


@pytest.fixture
def page(
    driver: webdriver.Chrome, transactional_db: None, frr: RecordedFrr, settings: Any
) -> Iterator[BrowserPage]:
    """A tab with a viewer logged in."""
    from django.core.cache import cache

    from webui.agent import replace_agent

    settings.SECURE_SSL_REDIRECT = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = False
    settings.STORAGES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    with RouterInMemory(_document()) as router:
        router.routing.ask = lambda question: question(frr)  # type: ignore[method-assign]
        replace_agent(router.client)
        cache.clear()
        try:
            with tab_on_a_server(driver, "viewer") as tab:
                yield tab
        finally:
            replace_agent(None)
            cache.clear()


def test_tabs_search_and_verdicts(page: BrowserPage) -> None:
    page.open(f"/bgp/neighbors/{PEER}")
    page.submit("nav.tabs a[href*='/received/']")
    page.arrives(f"/bgp/routes/received/{PEER}")
    page.sees("prefix list no-private, rule 10", "#bgp-routes")
    page.sees("this router's AS 65000 is in its AS path", "#bgp-routes")
    page.fill("input[name=community]", "65001:1:2")
    page.submit("form[role=search] button[type=submit]")
    assert [cell.text.split()[0] for cell in page.all("#bgp-routes tbody th")] == ["203.0.113.0/24"]
    page.submit("nav.tabs a[href*='/advertised/']")
    page.sees("198.18.0.0/24", "#bgp-routes")
    page.fill("input[name=prefix]", "203.0.112.0/24")
    page.submit("form[role=search] button[type=submit]")
    page.sees("prefix list all-but-112, rule 5", "#bgp-routes")
    assert page.complaints() == []


def test_an_lsa_is_found_and_opened(page: BrowserPage) -> None:
    page.open("/ospf/database")
    page.find("select[name=type]").send_keys("external")
    page.submit("form.inline-form button[type=submit]")
    assert len(page.all("#ospf-lsas tbody tr")) == 3
    page.submit("#ospf-lsas tbody tr:last-child th a")
    page.arrives("/ospf/lsa/external/198.51.101.0/10.255.0.2")
    page.sees("networkMask")
    assert page.complaints() == []


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_what_neighbors_say_is_shown_as_text(page: BrowserPage, frr: RecordedFrr, text: str) -> None:
    frr.answers[_LIST] = (
        frr.answers[_LIST].replace(_PATH, json.dumps(text)).replace('"65001:1:2"', json.dumps(text))
    )
    frr.answers[_LSA] = frr.answers[_LSA].replace('"0.0.0.0"', json.dumps(text))
    shown = text.split("\u0000", maxsplit=1)[0].replace("\u202e", "")
    for path in (f"/bgp/routes/received/{PEER}", "/ospf/lsa/external/198.51.101.0/10.255.0.2"):
        page.open(path)
        page.sees(shown)
        _harmless(page, path)
