"""Signing in and out, and access without a session."""

from __future__ import annotations

from selenium import webdriver

from tests.browser.browser_page import BrowserPage
from tests.live_lab import LiveLab


def test_a_wrong_password_says_so_and_no_more(driver: webdriver.Chrome, lab: LiveLab) -> None:
    page = BrowserPage(driver, lab.base_url)
    page.log_in(lab.environment["USERNAME"], "not the password")
    page.sees("The user name or password is wrong.")
    assert page.find("#username").get_attribute("value") == lab.environment["USERNAME"]
    assert page.find("#password").get_attribute("value") == ""


def test_pages_ask_for_a_login_and_then_show_what_was_asked_for(
    driver: webdriver.Chrome, lab: LiveLab
) -> None:
    page = BrowserPage(driver, lab.base_url)
    driver.delete_all_cookies()
    page.open("/bgp")
    page.fill("#username", lab.environment["USERNAME"])
    page.fill("#password", lab.environment["PASSWORD"])
    page.submit("button[type=submit]")
    page.sees("192.0.2.1", "#bgp-neighbors")
    assert page.path == "/bgp"


def test_logging_out(page: BrowserPage) -> None:
    page.click("details.menu summary")
    page.submit('form[action="/logout"] button')
    page.open("/interfaces")
    assert page.path.startswith("/login?next=")
