"""Every operation with every role: who is let in, who is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import ApiClient, MakeClient

ROLES = ("viewer", "operator", "engineer", "admin")
ABSENT = "00000000-0000-0000-0000-000000000000"

# Operation -> the weakest role that may call it.
TABLE: dict[str, str] = {
    "get_status": "viewer",
    "get_me": "viewer",
    "set_own_password": "viewer",
    "get_storage": "viewer",
    "list_changes": "viewer",
    "create_change": "engineer",
    "get_change": "viewer",
    "discard_change": "engineer",
    "diff_change": "viewer",
    "plan_change": "viewer",
    "commit_change": "engineer",
    "confirm_change": "operator",
    "rebase_change": "engineer",
    "list_revisions": "viewer",
    "get_revision": "viewer",
    "compare_revisions": "viewer",
    "compare": "viewer",
    "rollback": "engineer",
    "take_up_revision": "engineer",
    "confirm": "operator",
    "keep": "operator",
    "get_watch_rules": "viewer",
    "list_commits": "viewer",
    "cancel_commit": "engineer",
    "get_commit": "viewer",
    "get_interfaces_state": "viewer",
    "get_routes_state": "viewer",
    "get_bgp_state": "viewer",
    "get_bgp_neighbor_state": "viewer",
    "get_bgp_routes_state": "viewer",
    "get_bgp_search_state": "viewer",
    "get_bgp_index_state": "viewer",
    "get_ospf_state": "viewer",
    "get_ospf_database_state": "viewer",
    "get_acls_state": "viewer",
    "get_control_plane_state": "viewer",
    "get_neighbors_state": "viewer",
    "get_bfd_state": "viewer",
    "get_bonds_state": "viewer",
    "get_dhcp_relays_state": "viewer",
    "get_feeder_state": "viewer",
    "get_dataplane_state": "viewer",
    "get_nat_mappings_state": "viewer",
    "get_objects_state": "viewer",
    "get_static_routes_state": "viewer",
    "get_nat_state": "viewer",
    "get_nat_users_state": "viewer",
    "get_nat_sessions_state": "viewer",
    "get_forwarding_state": "viewer",
    "get_hardware_state": "viewer",
    "get_health_state": "viewer",
    "get_system_state": "viewer",
    "list_alarms": "viewer",
    "clear_bgp": "operator",
    "clear_ospf_neighbor": "operator",
    "clear_nat_sessions": "operator",
    "clear_neighbors": "operator",
    "list_events": "viewer",
    "clear_counters": "operator",
    "get_counters_state": "viewer",
    "get_traces_state": "viewer",
    "start_trace": "operator",
    "stop_trace": "operator",
    "remove_trace": "operator",
    "get_trace": "operator",
    "get_logs": "operator",
    "get_benches_state": "viewer",
    "start_bench": "admin",
    "cancel_bench": "admin",
    "get_captures_state": "viewer",
    "start_capture": "operator",
    "stop_capture": "operator",
    "remove_capture": "operator",
    "get_capture_file": "operator",
    "get_counters": "viewer",
    "get_counters_history": "viewer",
    "get_acl_totals": "viewer",
    "get_acl_hits": "viewer",
    "stream_counters": "viewer",
    "ping": "operator",
    "traceroute": "operator",
    "list_jobs": "viewer",
    "get_job": "viewer",
    "cancel_job": "operator",
    "list_users": "admin",
    "create_user": "admin",
    "get_user": "admin",
    "update_user": "admin",
    "delete_user": "admin",
    "list_tokens": "viewer",
    "create_token": "viewer",
    "revoke_token": "viewer",
    "list_audit": "admin",
    "get_upgrade": "viewer",
    "send_upgrade_part": "admin",
    "forget_upgrade": "admin",
    "install_upgrade": "admin",
    "switch_slot": "admin",
    "get_config": "viewer",
    "put_config": "engineer",
    "patch_config": "engineer",
    "get_config_at": "viewer",
    "put_config_at": "engineer",
    "patch_config_at": "engineer",
    "delete_config_at": "engineer",
}

# Values of path parameters; no object has such a number.
FILL = {
    "capture": "0123456789ab",
    "name": "nothing",
    "number": "2000000000",
    "other": "2000000000",
    "request_id": "none",
    "job_id": ABSENT,
    "address": "192.0.2.77",
    "pointer": "system",
}


def _operations() -> list[tuple[str, str, str]]:
    from webui.api.api import api

    found = []
    for bound in api._get_bound_routers():
        for path, view in bound.path_operations.items():
            for operation in view.operations:
                filled = path.replace("path:", "")
                for name, value in FILL.items():
                    filled = filled.replace(f"{{{name}}}", value)
                found += [
                    (method, filled.lstrip("/"), str(operation.operation_id)) for method in operation.methods
                ]
    return found


OPERATIONS = _operations()


def test_the_table_names_every_operation() -> None:
    assert {name for _, _, name in OPERATIONS} == set(TABLE)


_BARE = ("confirm", "keep")
"""These take no body."""


def _call(client: ApiClient, method: str, path: str) -> int:
    kind = (
        "application/merge-patch+json"
        if method == "PATCH" and path.startswith("config")
        else "application/json"
    )
    # No operation takes this body: a role that is let in gets a refusal, and nothing is changed.
    body: Any = {"no such thing": True} if method in ("POST", "PUT", "PATCH") and path not in _BARE else None
    return client(method, path, body, content_type=kind).status


@pytest.mark.parametrize("role", ROLES)
def test_roles(role: str, client_of: MakeClient) -> None:
    client = client_of(role)
    wrong = {}
    for method, path, name in OPERATIONS:
        status = _call(client, method, path)
        allowed = ROLES.index(role) >= ROLES.index(TABLE[name])
        if (status != 403) != allowed or status in (401, 500):
            wrong[name] = (method, path, status)
    assert wrong == {}


def test_nobody_gets_in_without_a_token(db: None, client_of: MakeClient) -> None:
    stranger = ApiClient()
    assert {
        name: status for method, path, name in OPERATIONS if (status := _call(stranger, method, path)) != 401
    } == {}


def test_a_token_that_may_only_read(client_of: MakeClient) -> None:
    reader = client_of("admin", write=False)
    for method, path, name in OPERATIONS:
        status = _call(reader, method, path)
        assert (status == 403) == (method != "GET"), (name, status)


def test_a_session_needs_the_csrf_token_for_writes(client_of: MakeClient) -> None:
    from django.test import Client

    from webui.accounts.models import User

    client_of("engineer")
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(User.objects.get(username="engineer"), "django.contrib.auth.backends.ModelBackend")
    assert browser.get("/api/v1/config", secure=True).status_code == 200
    refused = browser.post("/api/v1/changes", {}, "application/json", secure=True)
    assert refused.status_code == 403 and "CSRF" in refused.json()["detail"]
    browser.cookies["csrftoken"] = token = "a" * 32
    headers = {"X-CSRFToken": token, "Origin": "https://testserver"}
    made = browser.post("/api/v1/changes", {"title": "x"}, "application/json", secure=True, headers=headers)
    assert made.status_code == 201
    headers["Origin"] = "https://evil.example"
    assert (
        browser.post("/api/v1/changes", {}, "application/json", secure=True, headers=headers).status_code
        == 403
    )
