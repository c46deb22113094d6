"""The changes of a revision, put into a change set again: as a merge, and nothing is overwritten."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from webui.accounts.models import AuditEntry
from webui.changes.models import ChangeSet

ROUTE = {"next_hops": [{"address": "10.10.0.3"}]}
ADDED = "203.0.113.0/24"


@pytest.fixture
def rolled_back(engineer: ApiClient) -> int:
    """Revision 2 added a route and a name; it was rolled back, and revision 4 added something else."""
    body = {"system": {"hostname": "mine"}, "routing": {"static": {ADDED: ROUTE}}}
    assert engineer.merge("config", body).status == 200
    assert engineer.post("rollback", {"revision": 1}).status == 200
    assert engineer.put("config/routing/static/203.0.114.0~124", ROUTE).status == 200
    return 2


def _paths(client: ApiClient, change: int) -> list[str]:
    return sorted(one["path"] for one in client.get(f"changes/{change}/diff").body["diff"])


def test_a_rolled_back_revision_is_taken_up_and_later_commits_stay(
    engineer: ApiClient, router: RouterInMemory, rolled_back: int
) -> None:
    taken = engineer.post(f"revisions/{rolled_back}/take-up").body
    assert (taken["added"], taken["conflicts"]) == (True, [])
    change = taken["change"]["id"]
    assert taken["change"]["title"] == "Changes of revision 2"
    assert router.client.status().revision == 4, "nothing is committed yet"
    assert engineer.post(f"changes/{change}/commit", {"comment": ""}).status == 200
    document = router.client.config().document
    assert set(document["routing"]["static"]) == {"198.51.100.0/24", ADDED, "203.0.114.0/24"}
    assert document["system"]["hostname"] == "mine"
    entry = AuditEntry.objects.filter(action="change.edit").last()
    assert entry is not None and entry.detail == "changes of revision 2"


def test_it_is_added_to_edits_that_are_there(engineer: ApiClient, rolled_back: int) -> None:
    change = engineer.post("changes", {}).body["id"]
    engineer.put(f"config/interfaces/lo1/description?change={change}", "kept")
    taken = engineer.post(f"revisions/{rolled_back}/take-up?change={change}").body
    assert taken["added"] and taken["change"]["id"] == change
    candidate = engineer.get(f"config?change={change}").body
    assert candidate["interfaces"]["lo1"]["description"] == "kept"
    assert ADDED in candidate["routing"]["static"] and candidate["system"]["hostname"] == "mine"
    again = engineer.post(f"revisions/{rolled_back}/take-up?change={change}").body
    assert (again["added"], again["conflicts"]) == (False, [])


@pytest.mark.parametrize(("keep", "hostname"), [("ours", "other"), ("theirs", "mine")])
def test_a_conflict_is_shown_and_nothing_is_overwritten(
    engineer: ApiClient, rolled_back: int, keep: str, hostname: str
) -> None:
    assert engineer.put("config/system/hostname", "other").status == 200
    refused = engineer.post(f"revisions/{rolled_back}/take-up").body
    assert (refused["change"], refused["added"]) == (None, False)
    (conflict,) = refused["conflicts"]
    assert conflict == {"path": "/system/hostname", "base": "edge", "ours": "other", "theirs": "mine"}
    assert not ChangeSet.objects.exists(), "no empty change set is left"
    taken = engineer.post(f"revisions/{rolled_back}/take-up?keep={keep}").body
    candidate = engineer.get(f"config?change={taken['change']['id']}").body
    assert candidate["system"]["hostname"] == hostname
    assert ADDED in candidate["routing"]["static"], "all else comes with it"


def test_what_runs_already_makes_no_change_set(engineer: ApiClient, rolled_back: int) -> None:
    taken = engineer.post("revisions/4/take-up").body
    assert taken == {"change": None, "added": False, "conflicts": []}
    assert not ChangeSet.objects.exists()


def test_sealed_secrets_come_back_as_they_were(engineer: ApiClient, router: RouterInMemory) -> None:
    place = "config/routing/bgp/neighbors/10.10.0.9"
    wanted = {"remote_asn": 65009, "password": "horse-battery", "ipv4_unicast": {}}
    assert engineer.put(place, wanted).status == 200
    sealed = router.client.config().document["routing"]["bgp"]["neighbors"]["10.10.0.9"]["password"]
    engineer.post("rollback", {"revision": 1})
    answer = engineer.post("revisions/2/take-up")
    change = answer.body["change"]["id"]
    assert engineer.post(f"changes/{change}/commit").status == 200
    after = router.client.config().document["routing"]["bgp"]["neighbors"]["10.10.0.9"]["password"]
    assert after == sealed and "horse-battery" not in str(answer.body)


def test_it_is_repeated_safely_with_a_key(engineer: ApiClient, rolled_back: int) -> None:
    key = {"Idempotency-Key": "again"}
    first = engineer.post(f"revisions/{rolled_back}/take-up", headers=key)
    second = engineer.post(f"revisions/{rolled_back}/take-up", headers=key)
    assert first.body == second.body and ChangeSet.objects.count() == 1


def test_who_may_take_up_and_what(client_of: MakeClient, engineer: ApiClient, rolled_back: int) -> None:
    assert client_of("viewer").post(f"revisions/{rolled_back}/take-up").status == 403
    assert client_of("operator").post(f"revisions/{rolled_back}/take-up").status == 403
    assert engineer.post("revisions/99/take-up").status == 404
    change = engineer.post("changes", {}).body["id"]
    other = client_of("engineer", "bert")
    assert other.post(f"revisions/{rolled_back}/take-up?change={change}").status == 403
    engineer.delete(f"changes/{change}")
    assert engineer.post(f"revisions/{rolled_back}/take-up?change={change}").status == 409


def _page(client: ApiClient, method: str, path: str, **fields: str) -> Any:
    assert client.browser is not None
    return client.browser.generic(
        method,
        path,
        "&".join(f"{name}={value}" for name, value in fields.items()),
        content_type="application/x-www-form-urlencoded",
        secure=True,
    )


def test_the_page_of_a_revision_offers_it(session_of: MakeClient, rolled_back: int) -> None:
    anna = session_of("engineer", "anna")
    page = _page(anna, "GET", f"/history/{rolled_back}").content.decode()
    assert "Put revision 2&#x27;s changes into mine" in page or "Put revision 2's changes into mine" in page
    assert "into mine" not in _page(session_of("viewer"), "GET", f"/history/{rolled_back}").content.decode()
    done = _page(anna, "POST", f"/history/{rolled_back}/take-up")
    assert done.status_code == 302 and done.headers["Location"] == "/changes"
    shown = _page(anna, "GET", "/changes").content.decode()
    assert "The changes of revision 2 are among yours." in shown and "203.0.113.0/24" in shown


def test_the_page_shows_conflicts_and_both_ways_out(
    session_of: MakeClient, engineer: ApiClient, rolled_back: int
) -> None:
    assert engineer.put("config/system/hostname", "other").status == 200
    anna = session_of("engineer", "anna")
    refused = _page(anna, "POST", f"/history/{rolled_back}/take-up")
    assert refused.status_code == 409
    text = refused.content.decode()
    assert all(word in text for word in ("edge", "other", "mine", 'value="ours"', 'value="theirs"'))
    assert not ChangeSet.objects.exists()
    assert _page(anna, "POST", f"/history/{rolled_back}/take-up", keep="theirs").status_code == 302
    change = ChangeSet.objects.get()
    assert change.document["system"]["hostname"] == "mine"
