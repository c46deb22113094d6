"""Everything with the keyboard alone."""

from __future__ import annotations

from selenium.webdriver.common.keys import Keys

from appliance.state.commit_options import CommitOptions
from tests.browser.browser_page import BrowserPage
from tests.live_lab import LiveLab, wait_until


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


def test_a_static_route_takes_few_keys_from_the_dashboard_to_its_commit(
    page: BrowserPage, lab: LiveLab
) -> None:
    """Twenty at most, besides what is typed into its fields."""
    before, keys = lab.agent.status().revision, 0

    def press(*more: str) -> None:
        nonlocal keys
        keys += len(more)
        page.press(*more)

    def press_control_enter() -> None:
        nonlocal keys
        keys += 2
        page.press_with_control(Keys.ENTER)

    def focused() -> str:
        return page.driver.switch_to.active_element.get_attribute("name") or ""

    page.open("/")
    press("g", "s")
    page.arrives("/static-routes")
    press("n")
    page.arrives("/add/routing/static")
    wait_until(lambda: focused() == "@key", timeout_s=5, what="the first field has the focus")
    page.press("198.51.100.192/26")
    press(Keys.TAB, Keys.ENTER)
    wait_until(lambda: focused() == "/next_hops/0/address", timeout_s=5, what="a next hop can be typed")
    page.press("10.20.0.2")
    press_control_enter()
    page.arrives("/static-routes")
    press("g", "c")
    page.arrives("/changes")
    press("c")
    wait_until(lambda: focused() == "comment", timeout_s=5, what="the comment can be typed")
    page.press("by keys")
    press_control_enter()
    page.sees("runs", "#toasts")
    assert "198.51.100.192/26" in lab.agent.config().document["routing"]["static"]
    assert keys <= 20, keys
    lab.agent.rollback(before, CommitOptions(author="test", watch_s=0, confirm_s=0))


def test_the_first_tab_in_the_form_of_an_object_is_its_first_field(page: BrowserPage) -> None:
    page.open("/edit/routing/bgp/neighbors/192.0.2.1")
    page.find("form[data-object-form]")
    form = "return document.querySelector('.object-form').contains(document.activeElement)"
    page.press(Keys.TAB)
    for _ in range(2):
        # The button that removes the object, and the path above it, may come first.
        if not page.driver.execute_script(form):
            page.press(Keys.TAB)
    assert page.driver.execute_script(form)


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
