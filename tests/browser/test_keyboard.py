"""Everything by keys alone."""

from __future__ import annotations

from selenium.webdriver.common.keys import Keys

from tests.browser.browser_page import BrowserPage
from tests.live_lab import wait_until


def test_pages_are_reached_by_g_and_a_letter(page: BrowserPage) -> None:
    for letter, path in {"i": "/interfaces", "b": "/bgp", "a": "/acls", "c": "/changes", "d": "/"}.items():
        page.press("g", letter)
        page.arrives(path)


def test_a_static_route_is_added_without_a_mouse(page: BrowserPage) -> None:
    page.press("g", "s")
    page.arrives("/static-routes")
    page.press("n")
    page.arrives("/add/routing/static")
    page.find(page.field("@key"))
    while page.driver.switch_to.active_element.get_attribute("name") != "@key":
        page.press(Keys.TAB)
    page.press("198.51.100.128/25", Keys.TAB)
    while page.driver.switch_to.active_element.get_attribute("name") != "/blackhole":
        page.press(Keys.TAB)
    page.press(Keys.SPACE)
    page.press_with_control(Keys.ENTER)
    page.arrives("/static-routes")
    page.sees("198.51.100.128/25", "#static")
    page.sees("blackhole", "#static")


def test_filter_rows_and_help(page: BrowserPage) -> None:
    page.open("/interfaces")
    page.press("/")
    page.press("wan0")
    wait_until(
        lambda: len(page.all("#interfaces tbody tr")) == 1,
        timeout_s=5,
        what="the filter",
    )
    page.press(Keys.ESCAPE, "j", Keys.ENTER)
    page.arrives("/interfaces/wan0")
    page.press("?")
    assert page.find("#shortcuts").get_attribute("open") is not None
    page.press(Keys.ESCAPE)
    assert page.find("#shortcuts").get_attribute("open") is None


def test_focus_is_always_seen(page: BrowserPage) -> None:
    page.open("/acls")
    for _ in range(12):
        page.press(Keys.TAB)
        style = page.driver.execute_script(
            "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]"
        )
        assert style[0] != "none", page.driver.switch_to.active_element.get_attribute("outerHTML")
        assert style[1] != "0px"
