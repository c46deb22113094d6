"""A tab on a web server that runs in the test's own process, with the test's settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from selenium import webdriver

from tests.browser.browser_page import BrowserPage
from tests.browser.chromium import set_viewport

_PASSWORD = "correct-horse-battery"


@contextmanager
def tab_on_a_server(driver: webdriver.Chrome, role: str) -> Iterator[BrowserPage]:
    """Somebody new of this role is logged in; what the browser said so far is forgotten."""
    from pytest_django.live_server_helper import LiveServer

    from webui.accounts.models import User

    User.objects.create_user(role, _PASSWORD, role)
    server = LiveServer("127.0.0.1")
    try:
        tab = BrowserPage(driver, server.url)
        set_viewport(driver, 1440, 900)
        tab.log_in(role, _PASSWORD)
        driver.execute_script("window.sessionStorage.clear()")
        tab.complaints()
        yield tab
        # No page may go on asking a server that is gone.
        driver.get("about:blank")
    finally:
        server.stop()
