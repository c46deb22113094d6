"""A watched commit over REST and on the pages: the required roles, and the messages."""

from __future__ import annotations

import pytest
from django.test import Client

from appliance.watching import before_commit
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get, post
from webui.accounts.models import AuditEntry

WATCHED = "config/interfaces/lan0?watch_s=60"


@pytest.fixture(autouse=True)
def what_is_foretold_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a commit does not wait for this; these tests check what is reported of it."""
    monkeypatch.setattr(before_commit, "FORETOLD_S", 60.0)


def test_a_watched_commit_stands_in_the_way_until_it_is_kept(client_of: MakeClient) -> None:
    engineer = client_of("engineer")
    done = engineer.merge(WATCHED, {"mtu": 1400})
    assert (done.status, done.body["watch_s"], done.body["rolls_back"]) == (200, 60, True)
    watch = engineer.get("status").body["watch"]
    assert (watch["revision"], watch["rolls_back"], watch["state"]) == (2, True, "watching")
    refused = engineer.merge("config/interfaces/lan0", {"mtu": 1300})
    assert refused.status == 409 and "is watched for" in refused.body["detail"]
    assert client_of("viewer").post("keep", {}).status == 403
    assert client_of("operator").post("keep", {}).status == 204
    assert client_of("operator").post("keep", {}).status == 409
    assert [one.result for one in AuditEntry.objects.filter(action="config.keep").order_by("id")] == [
        "done",
        "failed",
    ]
    assert engineer.merge("config/interfaces/lan0", {"mtu": 1300}).status == 200


def test_a_revision_has_what_happened_beside_what_was_foretold(client_of: MakeClient) -> None:
    engineer = client_of("engineer")
    assert engineer.merge("config/interfaces/lan0", {"mtu": 1400}).body["watch_s"] == 30
    report = engineer.get("revisions/2").body["watch"]
    assert (report["revision"], report["compared_with"], report["rolls_back"]) == (2, 1, False)
    assert {one["name"] for one in report["measured"]} >= {"links", "drops"}
    assert "MTU and links" in report["foretold"]["looked_at"]
    assert engineer.merge("config/interfaces/lan0?watch_s=0", {"mtu": 1300}).body["watch_s"] is None
    assert engineer.get("revisions/3").body["watch"] is None


def test_the_rules_can_be_read(client_of: MakeClient) -> None:
    rules = client_of("viewer").get("watch/rules").body["rules"]
    assert "links" in rules and "pings" in rules


def test_bad_times_name_the_field(client_of: MakeClient) -> None:
    engineer = client_of("engineer")
    for seconds in ("4", "3601", "-1", "soon"):
        answer = engineer.merge(f"config/interfaces/lan0?watch_s={seconds}", {"mtu": 1400})
        assert answer.status == 422 and "watch_s" in str(answer.body)
    assert engineer.get("status").body["revision"] == 1


def test_the_pages_offer_it_and_say_what_happens(client_of: MakeClient) -> None:
    browser: Client = browser_of("engineer", client_of)
    assert client_of("engineer").post("changes", {}).status in (200, 201)
    number = client_of("engineer").get("changes").body["items"][0]["id"]
    client_of("engineer").merge(f"config/interfaces/lan0?change={number}", {"mtu": 1400})
    page = get(browser, "/changes")
    assert (
        "Roll back automatically when sessions or traffic get worse" in page
        and "What counts as worse" in page
    )
    page = post(browser, "/changes/commit", comment="", confirm_s="0", watch="1", watch_s="120")
    assert "Sessions and traffic after revision 2 are watched for" in page
    assert "Revision 1 comes back automatically" in page and "Keep it anyway" in page
    assert "watching r2" in page
    shown = get(browser, "/history/2")
    assert (
        "What happened" in shown
        and "What was foretold" in shown
        and "sessions and traffic are watched" in shown
    )
    page = post(browser, "/changes/keep")
    assert "Revision 2 stays, whatever its watch sees." in page and "Keep it anyway" not in page


def test_without_the_switch_a_time_arms_nothing(client_of: MakeClient, router: RouterInMemory) -> None:
    browser = browser_of("engineer", client_of)
    post(browser, "/history/rollback", revision="0", confirm_s="0", watch_s="120")
    watch = router.client.status().watch
    assert watch is not None and (watch.revision, watch.rolls_back) == (2, False)
