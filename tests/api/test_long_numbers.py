"""A number of thousands of digits, which Python refuses to read, is a number out of range on every page."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.api.conftest import ApiClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_change_pages import fields
from tests.api.test_pages import browser, get, post

__all__ = ["browser"]
LONG = "9" * 5000


def test_a_place_in_a_list_of_routes(browser: Client) -> None:
    page = get(browser, f"/routes?offset={LONG}")
    assert "Place in the list: must be at most" in page.partition('role="alert"')[2]


@pytest.mark.parametrize("times", [{"confirm_s": LONG}, {"watch": "on", "watch_s": LONG}])
def test_the_time_of_a_timer(times: dict[str, str], browser: Client, router: RouterInMemory) -> None:
    opened = fields(get(browser, "/edit/interfaces/lan0"))
    post(browser, "/edit/interfaces/lan0", **{**opened, "/mtu": "1400"})
    refused = browser.post("/changes/commit", {"comment": "", **times}, secure=True)
    assert (refused.status_code, router.client.status().revision) == (422, 1)
    back = browser.post("/history/rollback", {"revision": "1", **times}, secure=True, follow=True)
    assert (back.status_code, router.client.status().revision) == (200, 1)


def test_the_lifetime_of_a_token(browser: Client) -> None:
    assert "ci" in post(browser, "/tokens", name="ci", days=LONG)


def test_a_rule_that_is_pasted(browser: Client, engineer: ApiClient, router: RouterInMemory) -> None:
    for rule in (f"{LONG} permit ipv4", f"permit ipv4 icmp type {LONG}"):
        answer = browser.post("/acls/paste/edge-in", {"text": rule, "rules": rule}, secure=True, follow=True)
        assert answer.status_code in (200, 422)
    assert router.client.status().revision == 1
