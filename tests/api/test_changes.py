"""Change sets: collected edits, merged onto the running document, committed together."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.state.commit_options import CommitOptions
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from webui.changes.models import RevisionMirror

ROUTE = {"next_hops": [{"address": "10.10.0.3"}]}


def _change(client: ApiClient, title: str = "") -> int:
    return int(client.post("changes", {"title": title}).body["id"])


def test_edits_are_collected_and_committed_together(engineer: ApiClient, router: RouterInMemory) -> None:
    change = _change(engineer, "two routes")
    for prefix in ("203.0.113.0~124", "203.0.114.0~124"):
        assert engineer.put(f"config/routing/static/{prefix}?change={change}", ROUTE).status == 200
    assert router.client.status().revision == 1
    assert len(engineer.get(f"config/routing/static?change={change}").body) == 3
    assert len(engineer.get(f"changes/{change}/diff").body["diff"]) == 2
    plan = engineer.get(f"changes/{change}/plan").body
    assert len(plan["steps"]) == 2 and plan["problems"] == [] and plan["conflicts"] == []
    done = engineer.post(f"changes/{change}/commit", {"comment": ""})
    assert (done.status, done.body["revision"]) == (200, 2)
    assert router.client.revision(2)["comment"] == "two routes"
    after = engineer.get(f"changes/{change}").body
    assert (after["state"], after["committed_revision"]) == ("committed", 2)
    assert engineer.post(f"changes/{change}/commit").status == 409
    assert engineer.put(f"config/system/hostname?change={change}", "x").status == 409


def test_two_users_do_not_disturb_each_other(client_of: MakeClient, router: RouterInMemory) -> None:
    anna, bert = client_of("engineer", "anna"), client_of("engineer", "bert")
    of_anna, of_bert = _change(anna), _change(bert)
    anna.put(f"config/routing/static/203.0.113.0~124?change={of_anna}", ROUTE)
    bert.put(f"config/system/hostname?change={of_bert}", "core")
    assert anna.post(f"changes/{of_anna}/commit").status == 200
    assert bert.post(f"changes/{of_bert}/commit").status == 200
    document = router.client.config().document
    assert document["system"]["hostname"] == "core" and "203.0.113.0/24" in document["routing"]["static"]


def test_a_true_conflict_is_shown_and_never_overwritten(
    client_of: MakeClient, router: RouterInMemory
) -> None:
    anna, bert = client_of("engineer", "anna"), client_of("engineer", "bert")
    change = _change(anna)
    anna.put(f"config/system/hostname?change={change}", "of-anna")
    assert bert.put("config/system/hostname", "of-bert").status == 200
    refused = anna.post(f"changes/{change}/commit")
    assert refused.status == 409 and refused.body["type"] == "urn:millrace:merge-conflict"
    conflict = refused.body["errors"][0]
    assert conflict["pointer"] == "/system/hostname"
    assert (conflict["base"], conflict["ours"], conflict["theirs"]) == ("edge", "of-anna", "of-bert")
    assert router.client.config().document["system"]["hostname"] == "of-bert"
    rebased = anna.post(f"changes/{change}/rebase")
    assert [one["path"] for one in rebased.body["conflicts"]] == ["/system/hostname"]
    assert anna.get(f"changes/{change}/plan").body["conflicts"] != []
    # Taking their value ends the conflict.
    anna.put(f"config/system/hostname?change={change}", "of-bert")
    rebased = anna.post(f"changes/{change}/rebase").body
    assert rebased["conflicts"] == [] and rebased["change"]["base_revision"] == 2


def test_a_change_belongs_to_its_owner(client_of: MakeClient) -> None:
    anna, bert, admin = client_of("engineer", "anna"), client_of("engineer", "bert"), client_of("admin")
    change = _change(anna)
    assert bert.get(f"changes/{change}").status == 200
    assert bert.put(f"config/system/hostname?change={change}", "x").status == 403
    assert bert.post(f"changes/{change}/commit").status == 403
    assert bert.delete(f"changes/{change}").status == 403
    assert admin.delete(f"changes/{change}").status == 204
    assert anna.get(f"changes/{change}").body["state"] == "discarded"


def test_an_edit_of_an_old_version_is_refused(engineer: ApiClient) -> None:
    change = _change(engineer)
    etag = engineer.get(f"config?change={change}").headers["ETag"]
    path = f"config/system/hostname?change={change}"
    assert engineer.put(path, "one", headers={"If-Match": etag}).status == 200
    assert engineer.put(path, "two", headers={"If-Match": etag}).status == 412


def test_problems_of_a_candidate_are_shown_and_stop_its_commit(
    engineer: ApiClient, router: RouterInMemory
) -> None:
    change = _change(engineer)
    assert engineer.put(f"config/interfaces/lan0/acl_in?change={change}", ["later"]).status == 200
    assert [one["pointer"] for one in engineer.get(f"changes/{change}/plan").body["problems"]] == [
        "/interfaces/lan0/acl_in/0"
    ]
    assert engineer.post(f"changes/{change}/commit").status == 422
    acl = {"rules": {"10": {"action": "permit"}}}
    assert engineer.put(f"config/acls/later?change={change}", acl).status == 200
    assert engineer.post(f"changes/{change}/commit").status == 200
    assert router.client.config().document["interfaces"]["lan0"]["acl_in"] == ["later"]


def test_history_rollback_and_compare(engineer: ApiClient, router: RouterInMemory) -> None:
    engineer.put("config/system/hostname?comment=rename", "second")
    engineer.put("config/system/hostname", "third")
    listed = engineer.get("revisions?limit=2").body
    assert [one["number"] for one in listed["items"]] == [3, 2] and listed["total"] == 3
    assert engineer.get(listed["next"]).body["items"][0]["number"] == 1
    assert [one["number"] for one in engineer.get("revisions?search=rename").body["items"]] == [2]
    second = engineer.get("revisions/2").body
    assert second["document"]["system"]["hostname"] == "second"
    assert {"plan", "diff", "time", "impact", "digest"} <= set(second)
    difference = engineer.get("revisions/1/compare/3").body["diff"]
    assert [(one["path"], one["before"], one["after"]) for one in difference] == [
        ("/system/hostname", "edge", "third")
    ]
    back = engineer.post("rollback", {"revision": 1, "comment": "back"})
    assert (back.status, back.body["revision"]) == (200, 4)
    assert router.client.config().document["system"]["hostname"] == "edge"
    assert engineer.post("rollback", {"revision": 99}).status == 404
    assert engineer.get("revisions/99").status == 404
    assert engineer.get(f"commits/{back.body['request_id']}").body["state"] == "done"


def test_commits_by_the_command_line_are_in_the_history(engineer: ApiClient, router: RouterInMemory) -> None:
    engineer.get("revisions")
    document = router.client.config().document
    router.client.commit(
        {**document, "system": {"hostname": "by-cli"}}, CommitOptions(author="root", comment="at the console")
    )
    first = engineer.get("revisions?limit=1").body["items"][0]
    assert (first["number"], first["author"], first["comment"]) == (2, "root", "at the console")


def test_a_commit_that_outlasts_its_request_is_learnt_later(
    engineer: ApiClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from appliance.client import CommitAnswer
    from webui.changes import commits

    change = _change(engineer)
    engineer.put(f"config/system/hostname?change={change}", "slow")

    class Slow:
        """The agent goes on working; the answer came too late."""

        def __getattr__(self, name: str) -> Any:
            return getattr(router.client, name)

        def commit(self, document: Any, options: CommitOptions, **more: Any) -> CommitAnswer:
            answer = router.client.commit(document, options, **more)
            return CommitAnswer({**answer, "state": "running", "revision": None})

    monkeypatch.setattr(commits, "agent", Slow)
    accepted = engineer.post(f"changes/{change}/commit")
    assert accepted.status == 202 and accepted.headers["Location"].startswith("/api/v1/commits/")
    monkeypatch.undo()
    assert engineer.get(accepted.headers["Location"]).body["state"] == "done"
    assert engineer.put(f"config/system/hostname?change={change}", "x").status == 409
    found = engineer.get(f"changes/{change}").body
    assert (found["state"], found["committed_revision"]) == ("committed", 2)


def test_a_commit_after_a_history_that_was_replaced_mirrors_it_anew(
    engineer: ApiClient, router: RouterInMemory
) -> None:
    assert engineer.put("config/system/hostname", "one").status == 200
    # As if the router had been installed again and had reached the same number by other commits.
    RevisionMirror.objects.update(digest="0" * 64)
    assert engineer.put("config/system/hostname", "two").status == 200
    mirrored = list(RevisionMirror.objects.order_by("-number").values_list("number", "digest"))
    assert mirrored == [(one["revision"], one["digest"]) for one in router.client.revisions()]
