"""The search of BGP routes in a browser: routes read in the meantime appear, and nothing on the page
moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from appliance.features.bgp.index_client import BgpIndexClient
from tests.api.router_in_memory import RouterInMemory
from tests.browser.browser_page import BrowserPage
from tests.browser.chromium import set_viewport
from tests.browser.own_server import tab_on_a_server
from tests.toy_bgp_index import READY, ToyBgpIndex, row

_PLACES = """
return [...document.querySelectorAll("#bgp-search tbody tr")].slice(0, 5).map(
  (row) => row.getBoundingClientRect().top + window.scrollY)
"""


@pytest.fixture
def index(settings: Any) -> Iterator[ToyBgpIndex]:
    """One that is reading, behind a router of a test's own."""
    from django.core.cache import cache

    from webui.agent import replace_agent
    from webui.changes import running as what_runs

    settings.SECURE_SSL_REDIRECT = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = False
    settings.STORAGES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    router = RouterInMemory()
    path = router.directory / "index.sock"
    router.bgp_index = BgpIndexClient(path)
    with ToyBgpIndex(path) as toy, router:
        toy.status = {**READY, "state": "reading"}
        toy.rows = [row(number) for number in range(5)]
        settings.AGENT_SOCKET = str(router.socket)
        replace_agent(router.client)
        cache.clear()
        yield toy
        what_runs.forget()
        replace_agent(None)


@pytest.fixture
def page(driver: webdriver.Chrome, transactional_db: None, index: ToyBgpIndex) -> Iterator[BrowserPage]:
    """A viewer's tab."""
    with tab_on_a_server(driver, "viewer") as tab:
        yield tab
        assert tab.complaints() == []


@pytest.mark.parametrize("width", [1440, 390])
def test_what_is_read_meanwhile_moves_nothing(width: int, page: BrowserPage, index: ToyBgpIndex) -> None:
    set_viewport(page.driver, width, 900)
    page.open("/bgp/search")
    field = page.find("input[name=asn]")
    field.send_keys("65001")
    field.submit()
    page.sees("The index is being read", ".search-says")
    places = page.driver.execute_script(_PLACES)
    assert len(places) == 5
    # A user types the next search in the meantime.
    page.find("input[name=community]").send_keys("65001:1")
    index.rows = [row(number) for number in range(250)]
    index.status = {**READY, "state": "reading", "ipv4": {"routes": 900_000, "paths": 900_000}}
    page.sees("900,050", ".search-says")
    assert page.driver.execute_script(_PLACES) == places
    index.status = READY
    page.sees("Searched all 1,050 routes", ".search-says")
    assert page.driver.execute_script(_PLACES) == places
    typed = page.driver.switch_to.active_element
    assert (typed.get_attribute("name"), typed.get_attribute("value")) == ("community", "65001:1")
    assert len(page.driver.find_elements(By.CSS_SELECTOR, "#bgp-search tbody tr")) == 100
    # Everything is read: the page no longer polls.
    assert not page.driver.find_elements(By.CSS_SELECTOR, "#bgp-search-frame [hx-trigger]")
