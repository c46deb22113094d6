"""Long descriptions and comments can be read at any width: nothing is cut off, and no row is a tower."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver

from tests.api.router_in_memory import DOCUMENT, RouterInMemory
from tests.browser.browser_page import BrowserPage
from tests.browser.chromium import set_viewport
from tests.browser.own_server import tab_on_a_server

WORDS = "an uplink of the customer, by the second pair of the dark fibre between the two data centres, slot 7"
"""Longer than a description may be."""
_CUT_OFF = """
return [...document.querySelectorAll(".diff")].filter((box) => box.scrollWidth > box.clientWidth).length
"""
_HIGHEST = """
const rows = document.querySelectorAll("#revisions tbody tr");
return Math.max(...[...rows].map((row) => row.getBoundingClientRect().height));
"""


@pytest.fixture
def page(driver: webdriver.Chrome, transactional_db: None, settings: Any) -> Iterator[BrowserPage]:
    """An administrator's tab, on a router whose second revision has long words."""
    from django.core.cache import cache

    from webui.agent import replace_agent
    from webui.changes import running as what_runs

    settings.SECURE_SSL_REDIRECT = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = False
    settings.STORAGES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    with RouterInMemory() as router:
        interfaces = {**DOCUMENT["interfaces"]}
        interfaces["lan0"] = {**interfaces["lan0"], "description": WORDS[:79]}
        router.client.commit({**DOCUMENT, "interfaces": interfaces}, author="nina", comment=WORDS * 2)
        settings.AGENT_SOCKET = str(router.socket)
        replace_agent(router.client)
        cache.clear()
        with tab_on_a_server(driver, "admin") as tab:
            yield tab
        what_runs.forget()
        replace_agent(None)


@pytest.mark.parametrize("width", [1440, 1000, 390])
def test_long_words_can_be_read(width: int, page: BrowserPage) -> None:
    set_viewport(page.driver, width, 900)
    page.open("/history/2")
    page.sees(f"description: {WORDS[:79]}", ".diff")
    assert page.driver.execute_script(_CUT_OFF) == 0
    page.open("/history")
    page.sees(WORDS, "#revisions")
    assert page.driver.execute_script(_HIGHEST) < 160
