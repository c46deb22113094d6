"""A tab on a web server that runs in the test's own process, with the test's settings."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn
from selenium import webdriver

from tests.browser.browser_page import BrowserPage
from tests.browser.chromium import set_viewport

if TYPE_CHECKING:
    from webui.http.lanes import Lane

_PASSWORD = "correct-horse-battery"


@contextmanager
def tab_on_a_server(driver: webdriver.Chrome, role: str) -> Iterator[BrowserPage]:
    """Somebody new of this role is logged in; what the browser said so far is forgotten."""
    from webui.accounts.models import User

    User.objects.create_user(role, _PASSWORD, role)
    with _served() as base_url:
        tab = BrowserPage(driver, base_url)
        set_viewport(driver, 1440, 900)
        tab.log_in(role, _PASSWORD)
        driver.execute_script("window.sessionStorage.clear()")
        tab.complaints()
        yield tab
        # No page may go on asking a server that is gone.
        driver.get("about:blank")


@contextmanager
def _served() -> Iterator[str]:
    """The web half as uvicorn serves it: a stream ends with its reader.

    pytest-django's own server would gather each stream in a thread, without an end.
    """
    from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler

    from webui.http.handler import LaneHandler

    handler = LaneHandler()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(
            uvicorn.Config(
                ASGIStaticFilesHandler(handler),
                lifespan="off",
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=1,
            )
        )
        thread = threading.Thread(target=server.run, args=([listening],), name="own-server")
        thread.start()
        try:
            deadline = time.monotonic() + 30
            while not server.started:
                assert time.monotonic() < deadline and thread.is_alive()
                time.sleep(0.02)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()
            for lane in handler._lanes.values():
                _end(lane)


def _end(lane: Lane) -> None:
    """Each of its threads has a connection, which would keep the tests' database from being removed."""
    from django.db import connections

    all_have_one = threading.Barrier(lane.size.threads)

    def close(_: int) -> None:
        all_have_one.wait(10)
        connections.close_all()

    list(lane._pool.map(close, range(lane.size.threads)))
    lane.close()
