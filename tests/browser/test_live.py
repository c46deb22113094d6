"""Parts that update automatically: charts, sparklines, the header, and the banner of a lost connection."""

from __future__ import annotations

from tests.browser.browser_page import BrowserPage
from tests.live_lab import LiveLab, wait_until

CHART = '[data-chart="lan0"]'


def _last(page: BrowserPage) -> float:
    return float(page.find(CHART).get_attribute("data-last-time") or 0)


def test_the_chart_goes_on_by_itself(page: BrowserPage) -> None:
    page.open("/")
    wait_until(lambda: _last(page) > 0, timeout_s=10, what="the chart has points")
    first = _last(page)
    wait_until(lambda: _last(page) >= first + 2, timeout_s=10, what="new points, one a second")
    assert page.text('[data-now="rx"][data-of="lan0"]').endswith("b/s")
    page.click('[data-unit="packets"]')
    wait_until(
        lambda: page.text('[data-now="rx"][data-of="lan0"]').endswith("p/s"), timeout_s=5, what="packets"
    )
    page.click('[data-range="1h"]')
    assert page.find('[data-range="1h"]').get_attribute("aria-pressed") == "true"


def test_the_table_of_interfaces_lives(page: BrowserPage) -> None:
    page.open("/interfaces")
    rate = '[data-live="rx_bps"][data-interface="lan0"]'
    wait_until(lambda: page.text(rate).endswith("b/s"), timeout_s=10, what="a rate")
    page.fill("[data-search-input]", "wan0")
    wait_until(lambda: len(page.all("#interfaces tbody tr")) == 1, timeout_s=5, what="the filter")
    assert page.path == "/interfaces?q=wan0"
    wait_until(
        lambda: page.text('[data-live="rx_bps"][data-interface="wan0"]').endswith("b/s"),
        timeout_s=10,
        what="a rate in the row that came",
    )


def test_a_lost_connection_is_shown_and_recovers(page: BrowserPage, lab: LiveLab) -> None:
    page.open("/")
    wait_until(lambda: _last(page) > 0, timeout_s=10, what="the chart has points")
    lab.supervisorctl("stop", "web")
    try:
        page.sees("Connection to the router lost", "#connection", timeout_s=20)
        page.complaints()
    finally:
        lab.supervisorctl("start", "web")
    wait_until(lambda: not page.find("#connection").is_displayed(), timeout_s=40, what="the banner goes")
    last = _last(page)
    wait_until(lambda: _last(page) > last, timeout_s=20, what="the chart goes on")
    page.complaints()


def test_an_address_finds_the_route_that_packets_to_it_take(page: BrowserPage) -> None:
    page.open("/routes")
    page.sees("10.10.0.0/24", "#routes-table")
    page.fill("[name=prefix]", "203.0.113.10")
    page.click('form[role="search"] button[type=submit]')
    page.sees("203.0.113.0/24", "#routes-table")
    page.sees("192.0.2.1 wan0", "#routes-table")
    assert len(page.all("#routes tbody tr")) == 1
    page.open("/routes?prefix=203.0.112.0/20")
    page.sees("There is no route of exactly this prefix.", "#routes-table")
    page.click("#routes-table .empty a")
    page.sees("203.0.113.0/24", "#routes-table")


def test_ping_as_a_job_with_progress(page: BrowserPage) -> None:
    page.open("/tools")
    page.fill('form[action="/tools/ping"] [name=destination]', "203.0.113.10")
    page.fill('form[action="/tools/ping"] [name=count]', "3")
    page.click('form[action="/tools/ping"] button')
    wait_until(lambda: page.all('.job[data-job-state="done"]'), timeout_s=20, what="the ping ends")
    page.sees("203.0.113.10", ".job .output")
