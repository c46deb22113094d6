"""Long descriptions and comments can be read at any width: nothing is cut off, and no row is a tower."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from appliance.state.commit_options import CommitOptions
from tests.api.router_in_memory import DOCUMENT, RouterInMemory
from tests.browser.browser_page import BrowserPage
from tests.browser.chromium import set_viewport
from tests.browser.own_server import tab_on_a_server

WORDS = "an uplink of the customer, by the second pair of the dark fibre between the two data centres, slot 7"
"""Longer than a description may be."""
IMPACT = (
    "replaces the interface wan0, by which packets are lost until it is there again; closes 14 BGP sessions; "
    "the next hops 192.0.2.1, 192.0.2.5 and 2001:db8:4:5::1 are not reachable meanwhile"
)
"""As an analysis of several steps of one commit reads."""
_SIDEWAYS = """
const page = document.documentElement;
return [page.scrollWidth - page.clientWidth, [...document.querySelectorAll("main *")]
    .filter((one) => one.getBoundingClientRect().right > page.clientWidth + 1 && !one.closest(".table-wrap"))
    .map((one) => one.tagName + "." + one.className + ": " + one.textContent.trim().slice(0, 60))
    .slice(0, 5)];
"""
_BESIDE_THE_SCREEN = """
return [...document.querySelectorAll(".table-wrap")]
    .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.getAttribute("aria-label"));
"""
_COVERED = """
const at = document.activeElement;
if (at === document.body || at.closest(".topbar, .sidebar, .form-actions, .skip-link")) return null;
const box = at.getBoundingClientRect();
const found = document.querySelectorAll(".topbar, .form-actions");
const bars = [...found].map((bar) => bar.getBoundingClientRect());
const covered = bars.some((bar) => bar.top < box.bottom - 1 && bar.bottom > box.top + 1);
return covered ? `${at.tagName} ${at.name}: ${box.top}-${box.bottom}` : null;
"""
PAGES = (
    "/",
    "/interfaces",
    "/interfaces/lan0",
    "/edit/interfaces/lan0",
    "/routes",
    "/static-routes",
    "/bgp",
    "/bgp/neighbors/192.0.2.1",
    "/acls/edge-in",
    "/forwarding",
    "/control-plane",
    "/changes",
    "/history",
    "/history/2",
    "/history/2/rollback",
    "/alarms",
    "/nowhere",
)
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
    router = RouterInMemory()
    steps_of = router.dataplane.plan

    def plan(desired: Any, observed: Any) -> list[Any]:
        return [replace(step, impact=IMPACT) for step in steps_of(desired, observed)]

    router.dataplane.plan = plan  # type: ignore[method-assign]  # each step has a long impact
    with router:
        interfaces = {**DOCUMENT["interfaces"]}
        interfaces["lan0"] = {**interfaces["lan0"], "description": WORDS[:79], "mtu": 1400}
        interfaces["lo9"] = {"type": "loopback", "addresses": ["192.0.2.130/32"]}
        router.client.commit(
            {**DOCUMENT, "interfaces": interfaces}, CommitOptions(author="nina", comment=WORDS * 2)
        )
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


def test_no_page_scrolls_sideways_and_tables_keep_their_columns(page: BrowserPage) -> None:
    """A long impact pushed the columns with the running revision off the screen."""
    for width in (390, 1440):
        set_viewport(page.driver, width, 900)
        for path in PAGES:
            page.open(path)
            page.find("main h1")
            assert page.driver.execute_script(_SIDEWAYS)[0] <= 0, (
                width,
                path,
                page.driver.execute_script(_SIDEWAYS),
            )
            if width == 1440:
                assert page.driver.execute_script(_BESIDE_THE_SCREEN) == [], path
    page.open("/history")
    page.sees(IMPACT, "#revisions")
    page.sees("running", "#revisions .tag-good")


def test_what_has_the_focus_is_not_under_a_bar(page: BrowserPage) -> None:
    set_viewport(page.driver, 1440, 600)
    page.open("/edit/interfaces/lan0")
    page.find(page.field("/mtu"))
    covered = []
    for key in [Keys.TAB] * 40 + [(Keys.SHIFT + Keys.TAB)] * 30:
        page.press(key)
        covered.append(page.driver.execute_script(_COVERED))
    assert [one for one in covered if one] == []
