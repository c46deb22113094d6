"""The router's health on the pages, in the API and in Prometheus: healthy only when nothing is wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from django.core.cache import cache
from django.test import Client

from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.bgp_answers import NO_ROUTE, OVER_LIMIT, UP
from webui.accounts.models import User


def _wait(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def _objects(router: RouterInMemory) -> list[str]:
    return [alarm.object for alarm in router.client.alarms().alarms]


@pytest.fixture
def looked(router: RouterInMemory) -> RouterInMemory:
    """The router after a check that found nothing wrong."""
    router.watch.look()
    assert _objects(router) == []
    return router


@pytest.fixture
def browser(client_of: MakeClient) -> Client:
    client_of("viewer")
    found = Client(headers={"host": "testserver"})
    found.force_login(User.objects.get(username="viewer"), "django.contrib.auth.backends.ModelBackend")
    return found


def _chip(browser: Client) -> tuple[str, str]:
    """Text of the header's health, and its tone."""
    cache.clear()
    page = browser.get("/status", secure=True).content.decode()
    found = re.search(r'<a class="chip (chip-\w+)"\s+id="health-chip"[^>]*>(.*?)</a>', page, re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]*>", "", found[2]).split()), found[1]


def test_a_router_with_a_link_down_is_not_healthy(looked: RouterInMemory, browser: Client) -> None:
    assert _chip(browser) == ("healthy", "chip-good")
    looked.dataplane.without_link.add("wan0")
    looked.watch.look()
    assert _chip(browser) == ("1 major", "chip-alarm")
    dashboard = browser.get("/", secure=True).content.decode()
    assert dashboard.index('id="alarms"') < dashboard.index("data-charts"), "alarms are seen before charts"
    again = browser.get("/dashboard/state", secure=True).content.decode()
    assert '<div id="dashboard-urgent" hx-swap-oob="innerHTML">' in again and 'id="alarms"' in again
    page = browser.get("/alarms", secure=True).content.decode()
    assert "Interface wan0 is enabled and its link is down" in page
    assert "Check the cable" in page
    dashboard = browser.get("/", secure=True).content.decode()
    assert "Interface wan0 is enabled and its link is down" in dashboard
    looked.dataplane.without_link.clear()
    looked.watch.look()
    assert _chip(browser) == ("healthy", "chip-good")
    log = browser.get("/alarms?kind=events", secure=True).content.decode()
    assert "raised" in log and "cleared" in log


def test_a_router_whose_sessions_are_down_is_not_healthy(looked: RouterInMemory, browser: Client) -> None:
    looked.routing.frr.sessions["192.0.2.1"] = OVER_LIMIT
    looked.watch.look()
    assert _chip(browser) == ("1 major", "chip-alarm")
    page = browser.get("/alarms", secure=True).content.decode()
    assert "more prefixes than its maximum allows" in page and "clear the session" in page


def test_what_cannot_be_checked_is_not_called_healthy(looked: RouterInMemory, browser: Client) -> None:
    looked.routing.frr.kill("bgpd")
    looked.watch.look()
    assert _chip(browser) == ("not all checked", "chip-warn")
    answer = looked.client.alarms()
    assert list(answer.unchecked) == ["BGP sessions"]


def test_alarms_and_events_over_rest(looked: RouterInMemory, viewer: ApiClient) -> None:
    looked.dataplane.without_link.update({"wan0", "lan0"})
    looked.routing.frr.sessions["192.0.2.1"] = OVER_LIMIT
    looked.watch.look()
    found = viewer.get("alarms").body
    assert (found["total"], found["worst"], found["counts"]) == (3, "major", {"major": 3})
    assert found["unchecked"] == {} and found["looked_s_ago"] < 60
    page = viewer.get("alarms?kind=link_down&limit=1").body
    assert (len(page["items"]), page["total"]) == (1, 2) and "offset=1" in page["next"]
    (one,) = viewer.get("alarms?object=192.0.2.1").body["items"]
    assert one["pointer"] == "/routing/bgp/neighbors/192.0.2.1" and one["since"].endswith("Z")
    looked.dataplane.without_link.clear()
    looked.watch.look()
    events = viewer.get("events?event=cleared&kind=link_down&limit=1").body
    assert events["total"] == 2 and events["items"][0]["revision"] == 1
    assert viewer.get("events?object=192.0.2.1").body["total"] == 1
    assert viewer.get("events?severity=terrible").status == 422
    assert viewer.get("status").body["alarms"]["counts"] == {"major": 1}
    assert viewer.get("status").body["storage"]["events"]["events"] == 5


def test_prometheus_has_the_same_numbers(looked: RouterInMemory, viewer: ApiClient) -> None:
    looked.routing.frr.sessions["192.0.2.1"] = OVER_LIMIT
    looked.watch.look()
    looked.wait_sampled()
    text = bytes(viewer.get("/metrics").body).decode()
    assert 'millrace_alarms{severity="major"} 1.0' in text
    assert 'millrace_alarms{severity="critical"} 0.0' in text
    assert "millrace_health_unchecked 0.0" in text


def test_a_session_that_never_was_up_is_an_alarm_after_a_while(looked: RouterInMemory) -> None:
    looked.routing.frr.sessions["192.0.2.1"] = NO_ROUTE
    looked.watch.look()
    assert _objects(looked) == []
    looked.routing.frr.sessions["192.0.2.1"] = UP


def test_the_agent_looks_by_itself(router: RouterInMemory) -> None:
    router.dataplane.without_link.add("wan0")
    _wait(lambda: _objects(router) == ["wan0"], "the alarm of wan0")
