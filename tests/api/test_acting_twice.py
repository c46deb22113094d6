"""Actions on an outdated page: the second click, the other tab, the other person."""

from __future__ import annotations

import html

import pytest
from django.test import Client

from appliance.routing.rows import RibRow
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get, post

pytestmark = pytest.mark.usefixtures("router")


@pytest.fixture
def browser(client_of: MakeClient) -> Client:
    """An engineer's browser."""
    return browser_of("engineer", client_of)


def _wanted() -> dict[str, object]:
    from webui.changes.models import ChangeSet

    found: dict[str, object] = ChangeSet.objects.get(state="open").document
    return found


@pytest.mark.parametrize("action", ["delete", "disable", "enable"])
def test_nothing_is_not_done_to_no_object(action: str, browser: Client) -> None:
    """If the chosen objects were removed in the meantime, the page does not report success."""
    fields = {"action": action, "name": ["198.51.100.0/24"]}
    post(browser, "/table/static/act", action="delete", name=["198.51.100.0/24"])
    page = post(browser, "/table/static/act", **fields)
    assert "Nothing was done: what you chose is not in your configuration any more." in page
    assert "0 static routes" not in page


def test_rules_are_not_pasted_into_a_list_that_was_removed(browser: Client) -> None:
    """They would form a new list, with nothing of the old one in it."""
    assert "/acls/paste/edge-in" in get(browser, "/acls/edge-in")
    post(browser, "/table/acls/act", action="delete", name=["edge-in"])
    answer = browser.post("/acls/paste/edge-in", {"rules": "20 permit tcp any any"}, secure=True)
    assert answer.status_code == 404
    assert "There is no access list edge-in." in answer.content.decode()
    answer = browser.post("/acls/bind/edge-in", {"interface": "lan0", "acl_in": "lan0"}, secure=True)
    assert answer.status_code == 404
    wanted = _wanted()
    assert "edge-in" not in wanted.get("acls", {})  # type: ignore[operator]  # a document
    assert "/acls/paste/edge-in" not in get(browser, "/acls/edge-in"), "the page of what is removed offers it"


def test_nothing_is_added_to_an_object_that_was_removed(browser: Client) -> None:
    rule = {"@key": "20", "action": "permit"}
    post(browser, "/table/acls/act", action="delete", name=["edge-in"])
    answer = browser.post("/add/acls/edge-in/rules", rule, secure=True)
    assert answer.status_code == 422
    assert "Access list edge-in was removed in the meantime" in answer.content.decode()
    assert "edge-in" not in _wanted().get("acls", {})  # type: ignore[operator]  # a document
    get(browser, "/add/acls/edge-in/rules", 404)
    get(browser, "/add/vrfs/nowhere/routing/static", 404)


def test_history_past_its_end_is_its_last_page(browser: Client) -> None:
    page = get(browser, "/history?offset=5000")
    assert "Nothing has been committed yet" not in page
    assert "1\N{EN DASH}1 of 1" in page


def test_going_back_to_no_revision_is_refused(browser: Client, router: RouterInMemory) -> None:
    for number in ("", "abc", "-1"):
        assert browser.post("/history/rollback", {"revision": number}, secure=True).status_code == 404
    assert router.client.status().revision == 1


def test_a_rollback_that_was_not_begun_is_not_said_to_be_undone(browser: Client) -> None:
    page = html.unescape(post(browser, "/history/rollback", revision="1", comment="x" * 501))
    assert "Nothing was rolled back: /comment: must be one line of at most 500 printable characters." in page
    assert "was undone" not in page


@pytest.mark.parametrize("comment", ["ticket\u00a042", "ticket\u200b 42", "ticket\t42\n"])
def test_a_comment_may_be_pasted_from_anywhere(comment: str, browser: Client, router: RouterInMemory) -> None:
    post(browser, "/table/static/act", action="delete", name=["198.51.100.0/24"])
    page = post(browser, "/changes/commit", comment=comment, confirm_s="0")
    assert "Revision 2 runs." in page
    assert router.client.revision(2)["comment"] == "ticket 42"


def test_routes_past_the_end_of_their_list_are_its_last_page(
    browser: Client, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [RibRow(f"198.51.{n}.0/24", "static", installed=True) for n in range(130)]
    monkeypatch.setattr(router.routing, "rib_list", lambda family, *_: rows if family == "ipv4" else [])
    router.routing.routes = {"static": len(rows)}
    page = get(browser, "/routes?offset=5000")
    assert "101\N{EN DASH}130 of 130" in page
    assert "No route matches" not in page
