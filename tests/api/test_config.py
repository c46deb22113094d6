"""The configuration over REST: read, write, patch, delete, preview, conditions, repetition, secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection

from appliance.client import AgentClient
from appliance.errors import AgentUnavailable
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import DOCUMENT, PASSWORD, RouterInMemory
from webui.accounts.models import AuditEntry

ROUTE = {"next_hops": [{"address": "10.10.0.3"}]}


def test_the_whole_document_has_its_secrets_masked(viewer: ApiClient) -> None:
    answer = viewer.get("config")
    assert answer.status == 200
    assert answer.body["interfaces"] == DOCUMENT["interfaces"]
    assert answer.body["routing"]["bgp"]["neighbors"]["192.0.2.1"]["password"] == "********"
    assert PASSWORD not in json.dumps(answer.body) and "$sealed$" not in json.dumps(answer.body)
    assert answer.headers["ETag"].strip('"')


def test_a_path_with_a_slash_in_a_name(viewer: ApiClient) -> None:
    assert viewer.get("config/routing/static/198.51.100.0~124").body == {
        "next_hops": [{"address": "10.10.0.2"}]
    }


def test_a_default_is_there_and_an_unset_value_is_not(viewer: ApiClient) -> None:
    assert viewer.get("config/interfaces/lan0/mtu").body == 1500
    assert viewer.get("config/routing/ospf").status == 404
    assert viewer.get("config/interfaces/nope0").status == 404
    assert viewer.get("config/dataplane").body == {}


def test_a_put_is_a_commit(engineer: ApiClient, router: RouterInMemory) -> None:
    answer = engineer.put("config/routing/static/203.0.113.0~124?comment=to+the+lab", ROUTE)
    assert (answer.status, answer.body["state"], answer.body["revision"]) == (200, "done", 2)
    assert router.client.config().document["routing"]["static"]["203.0.113.0/24"] == ROUTE
    assert router.client.revision(2)["author"] == "engineer"
    assert router.client.revision(2)["comment"] == "to the lab"
    assert "route 203.0.113.0/24" in router.routing.state


def test_a_key_is_brought_into_its_canonical_form(engineer: ApiClient, router: RouterInMemory) -> None:
    assert engineer.put("config/routing/static/2001:DB8:0::~132", {"blackhole": True}).status == 200
    assert "2001:db8::/32" in router.client.config().document["routing"]["static"]
    assert engineer.get("config/routing/static/2001:db8:0:0::~132").body == {"blackhole": True}


def test_merge_patch_json_patch_and_delete(engineer: ApiClient, router: RouterInMemory) -> None:
    assert engineer.merge("config/interfaces/lan0", {"mtu": 9000, "description": "the LAN"}).status == 200
    assert router.client.config().document["interfaces"]["lan0"]["mtu"] == 9000
    operations = [
        {"op": "test", "path": "/lan0/mtu", "value": 9000},
        {"op": "remove", "path": "/lan0/mtu"},
        {"op": "add", "path": "/lo2", "value": {"type": "loopback"}},
    ]
    assert engineer.patch("config/interfaces", operations).status == 200
    interfaces = router.client.config().document["interfaces"]
    assert "mtu" not in interfaces["lan0"] and interfaces["lo2"] == {"type": "loopback"}
    assert engineer.delete("config/interfaces/lo2").status == 200
    assert engineer.delete("config/interfaces/lo2").status == 404


def test_a_failing_operation_of_a_patch_changes_nothing(engineer: ApiClient, router: RouterInMemory) -> None:
    before = router.client.config()
    operations = [
        {"op": "add", "path": "/lo2", "value": {"type": "loopback"}},
        {"op": "test", "path": "/lan0/mtu", "value": 1},
    ]
    answer = engineer.patch("config/interfaces", operations)
    assert answer.status == 422 and answer.body["errors"][0]["pointer"] == "/1"
    assert router.client.config() == before


def test_dry_run_shows_plan_and_impact_and_changes_nothing(
    engineer: ApiClient, router: RouterInMemory
) -> None:
    before = router.client.config()
    answer = engineer.put("config/routing/static/203.0.113.0~124?dry_run=true", ROUTE)
    assert answer.status == 200
    assert [step["summary"] for step in answer.body["steps"]] != []
    assert [one["path"] for one in answer.body["diff"]] == ["/routing/static/203.0.113.0~124"]
    assert router.client.config() == before


def test_if_match(engineer: ApiClient) -> None:
    etag = engineer.get("config").headers["ETag"]
    path = "config/routing/static/203.0.113.0~124"
    assert engineer.put(path, ROUTE, headers={"If-Match": '"other"'}).status == 412
    assert engineer.put(path, ROUTE, headers={"If-Match": etag}).status == 200
    assert engineer.put(path, {"blackhole": True}, headers={"If-Match": etag}).status == 412
    fresh = engineer.get(path).headers["ETag"]
    assert engineer.get("config", headers={"If-None-Match": fresh}).status == 304


def test_an_idempotency_key_is_done_once(engineer: ApiClient, router: RouterInMemory) -> None:
    path, key = "config/routing/static/203.0.113.0~124", {"Idempotency-Key": "one"}
    first = engineer.put(path, ROUTE, headers=key)
    again = engineer.put(path, ROUTE, headers=key)
    assert (first.status, first.body) == (again.status, again.body)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert router.client.status().revision == 2
    assert engineer.put(path, {"blackhole": True}, headers=key).status == 422
    assert engineer.put(path, ROUTE, headers={"Idempotency-Key": "x" * 256}).status == 400


def test_what_failed_may_be_tried_again_with_its_key(engineer: ApiClient, router: RouterInMemory) -> None:
    path, key = "config/routing/static/203.0.113.0~124", {"Idempotency-Key": "one"}
    router.routing.refuses = "route 203.0.113.0/24"
    failed = engineer.put(path, ROUTE, headers=key)
    assert failed.status == 409 and failed.body["type"] == "urn:millrace:commit-failed"
    assert "203.0.113.0/24" in failed.body["detail"]
    assert router.client.status().revision == 1
    audited = AuditEntry.objects.filter(action="config.commit").latest("id")
    assert (audited.result, audited.target) == ("failed", "/routing/static/203.0.113.0~124")
    assert [one["path"] for one in audited.changes] == ["/routing/static/203.0.113.0~124"]
    router.routing.refuses = None
    assert engineer.put(path, ROUTE, headers=key).status == 200


def _lose_answer_of(name: str, client: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent carries it out, and its answer is lost once."""
    real = getattr(client, name)

    def lost(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(client, name, real)
        real(*given, **more)
        raise AgentUnavailable("the connection was closed")

    monkeypatch.setattr(client, name, lost)


@pytest.mark.parametrize("names_the_document", [False, True])
def test_what_was_done_and_not_answered_is_not_done_again(
    names_the_document: bool, engineer: ApiClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Idempotency-Key": "one"}
    if names_the_document:
        headers["If-Match"] = engineer.get("config").headers["ETag"]
    path = "config/routing/static/198.51.100.0~124"
    _lose_answer_of("commit_edit", router.client, monkeypatch)
    assert engineer.delete(path, headers=headers).status == 503
    assert router.client.status().revision == 2
    again = engineer.delete(path, headers=headers)
    assert (again.status, again.body["state"], again.body["revision"]) == (200, "done", 2)
    assert engineer.delete(path, headers=headers).headers["Idempotency-Replayed"] == "true"


def test_a_change_set_whose_commit_was_not_answered_is_committed(
    engineer: ApiClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = engineer.post("changes").body["id"]
    assert engineer.put(f"config/interfaces/lan0/mtu?change={number}", 1400).status == 200
    key = {"Idempotency-Key": "one"}
    _lose_answer_of("commit", router.client, monkeypatch)
    _lose_answer_of("commit_result", router.client, monkeypatch)
    assert engineer.post(f"changes/{number}/commit", headers=key).status == 503
    again = engineer.post(f"changes/{number}/commit", headers=key)
    assert (again.status, again.body["state"], again.body["revision"]) == (200, "done", 2)
    assert engineer.get(f"changes/{number}").body["state"] == "committed"


def test_invalid_documents_name_the_place(engineer: ApiClient, router: RouterInMemory) -> None:
    before = router.client.config()
    cases = [
        ("config/interfaces/lan0/mtu", 100, "/interfaces/lan0/mtu"),
        ("config/interfaces/lan0/acl_in", ["nope"], "/interfaces/lan0/acl_in/0"),
        ("config/interfaces/lo9", {"type": "bridge"}, "/interfaces/lo9/type"),
        ("config/routing/static/198.51.100.0~124", {}, "/routing/static/198.51.100.0~124"),
        ("config/acls/edge-in/rules/10", {"action": "permit", "x": 1}, "/acls/edge-in/rules/10/x"),
    ]
    for path, value, pointer in cases:
        answer = engineer.put(path, value)
        assert answer.status == 422, (path, answer)
        assert pointer in [one["pointer"] for one in answer.body["errors"]], answer.body
    assert router.client.config() == before


def test_a_secret_is_sealed_masked_and_kept(engineer: ApiClient, router: RouterInMemory) -> None:
    path = "config/routing/bgp/neighbors/192.0.2.1"
    sealed = router.client.config().document["routing"]["bgp"]["neighbors"]["192.0.2.1"]["password"]
    assert sealed.startswith("$sealed$")
    neighbor = engineer.get(path).body
    assert engineer.put(path, {**neighbor, "description": "upstream"}).status == 200
    kept = router.client.config().document["routing"]["bgp"]["neighbors"]["192.0.2.1"]
    assert (kept["password"], kept["description"]) == (sealed, "upstream")
    assert engineer.merge(path, {"password": "another-horse"}).status == 200
    assert "another-horse" in str(router.routing.state)
    assert (
        engineer.put(
            "config/routing/bgp/neighbors/192.0.2.5", {"remote_asn": 1, "password": "********"}
        ).status
        == 422
    )


def test_no_secret_reaches_the_database_in_clear(engineer: ApiClient) -> None:
    change = engineer.post("changes", {"title": "key"}).body["id"]
    path = f"config/routing/bgp/neighbors/192.0.2.1?change={change}"
    assert engineer.merge(path, {"password": "battery-staple"}).status == 200
    assert engineer.post(f"changes/{change}/commit").status == 200
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            rows = str(cursor.fetchall())
            assert "battery-staple" not in rows and PASSWORD not in rows, table


def test_confirm_s_arms_a_rollback_that_confirm_ends(engineer: ApiClient, client_of: MakeClient) -> None:
    answer = engineer.put("config/routing/static/203.0.113.0~124?confirm_s=60", ROUTE)
    assert answer.body["confirm_expires_at"]
    operator = client_of("operator")
    assert operator.get("status").body["pending_confirm"]["revision"] == 2
    assert engineer.put("config/routing/static/203.0.114.0~124", ROUTE).status == 409
    assert operator.post("confirm").status == 204
    assert operator.get("status").body["pending_confirm"] is None
    assert operator.post("confirm").status == 409


def test_a_write_without_a_change_makes_no_revision(engineer: ApiClient) -> None:
    value = engineer.get("config/interfaces/lan0").body
    answer = engineer.put("config/interfaces/lan0", value)
    assert (answer.status, answer.body["revision"], answer.body["steps"]) == (200, 1, [])


def test_the_agent_away_is_a_503(engineer: ApiClient, router: RouterInMemory) -> None:
    router.stop()
    assert engineer.get("config").status == 503
    assert engineer.put("config/system/hostname", "other").status == 503
    router.start()
    assert engineer.get("config").status == 200
