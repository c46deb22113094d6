"""Picking a VRF in a browser, and acting in it. The agent is a real one; FRR is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from appliance.state.bgp import BgpNeighborState, BgpState
from tests.api.router_in_memory import DOCUMENT, RouterInMemory
from tests.bgp_answers import UP
from tests.browser.browser_page import BrowserPage
from tests.browser.own_server import tab_on_a_server

BLUE = {
    "bgp": {
        "asn": 65000,
        "router_id": "10.77.0.1",
        "neighbors": {"10.77.0.2": {"remote_asn": 65010, "ipv4_unicast": {}}},
    }
}


class _OfBlue:
    """FRR in memory has no VRFs: what blue's would say of its session."""

    def __init__(self, view: Any) -> None:
        self._view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def bgp_state(self) -> BgpState:
        up = BgpNeighborState(state="established", remote_asn=65010, uptime_ms=60_000)
        return BgpState(asn=65000, router_id="10.77.0.1", neighbors={"10.77.0.2": up})


@pytest.fixture
def router() -> Iterator[RouterInMemory]:
    """It has the VRFs blue, with a BGP session, and red, with nothing."""
    interfaces = {
        **DOCUMENT["interfaces"],
        "loop7": {"type": "loopback", "addresses": ["10.77.0.1/24"], "vrf": "blue"},
    }
    document = {**DOCUMENT, "interfaces": interfaces, "vrfs": {"blue": {"routing": BLUE}, "red": {}}}
    with RouterInMemory(document) as running:
        in_vrf = running.routing.in_vrf
        running.routing.in_vrf = lambda vrf: (  # type: ignore[method-assign]
            _OfBlue(in_vrf(vrf)) if vrf == "blue" else in_vrf(vrf)
        )
        running.routing.frr.sessions["10.77.0.2"] = UP
        yield running


@pytest.fixture
def page(
    driver: webdriver.Chrome, transactional_db: None, router: RouterInMemory, settings: Any
) -> Iterator[BrowserPage]:
    """A tab with an engineer logged in."""
    from django.core.cache import cache

    from webui.agent import replace_agent

    settings.SECURE_SSL_REDIRECT = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = False
    settings.STORAGES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    replace_agent(router.client)
    cache.clear()
    try:
        with tab_on_a_server(driver, "engineer") as tab:
            yield tab
    finally:
        replace_agent(None)
        cache.clear()


def test_a_vrf_is_picked_by_the_keyboard_and_its_session_cleared(
    page: BrowserPage, router: RouterInMemory
) -> None:
    page.open("/bgp")
    page.sees("192.0.2.1", "#bgp-neighbors")
    page.find("#vrf-picker summary").send_keys(Keys.ENTER)
    page.find("#vrf-picker a[href='/bgp?vrf=blue']").send_keys(Keys.ENTER)
    page.arrives("/bgp?vrf=blue")
    page.sees("established", "#bgp-neighbors")
    page.fill("input[name=q]", "10.77")
    page.arrives("/bgp?vrf=blue&q=10.77")
    page.submit("#bgp-neighbors th[scope=row] a")
    page.arrives("/bgp/neighbors/10.77.0.2?vrf=blue")
    page.click("form[action='/actions/clear-bgp'] button")
    page.accept()
    page.sees("10.77.0.2", "#toasts")
    assert [one.text for one in router.routing.frr.operations] == ["clear bgp vrf blue 10.77.0.2"]
    assert page.path == "/bgp/neighbors/10.77.0.2?vrf=blue"

    page.open("/routes?prefix=198.51.100.1")
    page.choose("select[name=vrf]", "red")
    page.sees("No route matches", "#routes-table")
    page.find("#routes-clear a[href='/routes?vrf=red']")
    assert page.complaints() == []
