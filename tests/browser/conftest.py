"""Chromium, and a lab on the linux data plane to show in it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from selenium import webdriver

from appliance.errors import Conflict, NotFound
from tests.browser import chromium
from tests.browser.browser_page import BrowserPage
from tests.live_lab import LiveLab, live_lab, wait_until
from tests.requirements import require_root_netns


@pytest.fixture(scope="session")
def driver() -> Iterator[webdriver.Chrome]:
    """One browser for all tests."""
    if not chromium.installed():
        pytest.skip("Chromium is not installed (/usr/bin/chromium, /usr/bin/chromedriver)")
    with tempfile.TemporaryDirectory(prefix="mr-chromium-") as profile:
        started = chromium.start(Path(profile), trust_any_certificate=True)
        started.set_page_load_timeout(30)
        try:
            yield started
        finally:
            started.quit()


@pytest.fixture(scope="session")
def lab() -> Iterator[LiveLab]:
    """The whole stack in namespaces of its own."""
    require_root_netns()
    with live_lab("br", "linux") as running:
        yield running


@pytest.fixture
def page(driver: webdriver.Chrome, lab: LiveLab) -> Iterator[BrowserPage]:
    """A tab with the administrator logged in and no changes; afterwards the console has to be clean."""
    tab = BrowserPage(driver, lab.base_url)
    chromium.set_viewport(driver, 1440, 900)
    tab.log_in(lab.environment["USERNAME"], lab.environment["PASSWORD"])
    driver.execute_script("window.sessionStorage.clear()")
    tab.complaints()
    yield tab
    _end_commits(lab)
    complaints = [entry for entry in tab.complaints() if "status of 4" not in entry]
    tab.open("/changes")
    if tab.all('form[action="/changes/discard"]'):
        driver.execute_script("document.querySelector('form[action=\"/changes/discard\"]').submit()")
        tab.sees("You have no changes")
    assert complaints == []


def _end_commits(lab: LiveLab) -> None:
    """Work that a failed test left under way must not affect a later test."""

    def none_left() -> bool:
        under_way = lab.agent.commits()
        for one in filter(None, (*under_way.queued, under_way.running)):
            with suppress(Conflict, NotFound):
                lab.agent.cancel_commit(one.id, author="tests")
        return under_way.running is None and not under_way.queued

    wait_until(none_left, timeout_s=300, what="no commit is under way")
