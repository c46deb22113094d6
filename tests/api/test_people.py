"""Users, tokens, limits and the audit log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.db import DatabaseError, connection, transaction
from django.test import Client

from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import PASSWORD

GOOD = "a long enough passphrase"


@pytest.fixture(autouse=True)
def _fast_hashes(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def test_users_are_made_changed_and_removed(session_of: MakeClient) -> None:
    admin = session_of("admin")
    made = admin.post("users", {"username": "carla", "password": GOOD, "role": "operator"})
    assert made.status == 201 and "password" not in made.body
    number = made.body["id"]
    assert (
        admin.post("users", {"username": "carla", "password": GOOD}).body["errors"][0]["pointer"]
        == "/username"
    )
    assert (
        admin.post("users", {"username": "dora", "password": "short"}).body["errors"][0]["pointer"]
        == "/password"
    )
    assert admin.post("users", {"username": "root;id@x", "password": GOOD}).status == 422
    assert (
        admin("PATCH", f"users/{number}", {"role": "engineer", "is_active": False}).body["role"] == "engineer"
    )
    assert admin("PATCH", f"users/{number}", {"role": "root"}).status == 422
    assert admin.delete(f"users/{number}").status == 204
    assert admin.get(f"users/{number}").status == 404


def test_the_last_admin_stays(admin: ApiClient) -> None:
    me = admin.get("me").body["user"]["id"]
    assert admin.delete(f"users/{me}").status == 409
    assert admin("PATCH", f"users/{me}", {"role": "viewer"}).status == 409
    assert admin("PATCH", f"users/{me}", {"is_active": False}).status == 409


def test_passwords_are_hashed_with_argon2() -> None:
    from webui import settings as configured

    assert configured.PASSWORD_HASHERS[0] == "webui.accounts.password_hasher.ApplianceArgon2Hasher"


def test_a_token_is_shown_once_and_stored_hashed(session_of: MakeClient) -> None:
    from webui.accounts.models import ApiToken

    viewer = session_of("viewer")
    made = viewer.post("tokens", {"name": "script"}).body
    text = made["token"]
    assert len(text.rsplit("_", 1)[-1]) >= 42 or len(text) >= 55
    assert text.startswith(made["prefix"])
    assert all("token" not in one for one in viewer.get("tokens").body["items"])
    stored = ApiToken.objects.get(pk=made["id"])
    assert text not in (stored.digest, stored.prefix, stored.name)
    fresh = ApiClient(text)
    assert fresh.get("me").body["write"] is False
    assert ApiToken.objects.get(pk=made["id"]).last_used_at is not None
    assert viewer.delete(f"tokens/{made['id']}").status == 204
    assert fresh.get("me").status == 401


def test_tokens_expire_and_end_with_their_user(admin: ApiClient, session_of: MakeClient) -> None:
    from webui.accounts.models import ApiToken, User

    viewer = session_of("viewer")
    soon = datetime.now(UTC) + timedelta(hours=1)
    made = viewer.post("tokens", {"name": "short", "expires_at": soon.isoformat()}).body
    token = ApiClient(made["token"])
    assert token.get("me").status == 200
    ApiToken.objects.filter(pk=made["id"]).update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert token.get("me").status == 401
    past = viewer.post("tokens", {"name": "past", "expires_at": "2020-01-01T00:00:00Z"})
    assert past.body["errors"][0]["pointer"] == "/expires_at"
    assert viewer.post("tokens", {"name": "naive", "expires_at": "2099-01-01T00:00:00"}).status == 422
    admin("PATCH", f"users/{User.objects.get(username='viewer').pk}", {"is_active": False})
    assert viewer.get("me").status == 401


def test_only_admins_see_and_end_the_tokens_of_others(admin: ApiClient, viewer: ApiClient) -> None:
    of_admin = admin.get("tokens").body["items"][0]["id"]
    of_viewer = viewer.get("tokens").body["items"][0]["id"]
    assert viewer.delete(f"tokens/{of_admin}").status == 403
    assert viewer.get("tokens?all=true").status == 403
    assert admin.get("tokens?all=true").body["total"] == 2
    assert admin.delete(f"tokens/{of_viewer}").status == 204


def test_a_token_is_limited_and_so_are_guesses(viewer: ApiClient, settings: Any) -> None:
    settings.TOKEN_REQUESTS_PER_MINUTE, settings.TOKEN_FAILURES_PER_MINUTE = 3, 2
    caches["counts"].clear()
    assert [viewer.get("me").status for _ in range(4)] == [200, 200, 200, 429]
    assert viewer.get("me").headers["Retry-After"] == "60"
    guess = ApiClient("mr_00000000_" + "a" * 43)
    assert [guess.get("me").status for _ in range(3)] == [401, 401, 429]


def test_guesses_shut_out_no_good_token_from_the_same_address(viewer: ApiClient, settings: Any) -> None:
    settings.TOKEN_FAILURES_PER_MINUTE = 2
    caches["counts"].clear()
    assert viewer.get("me").status == 200
    guess = ApiClient("mr_00000000_" + "a" * 43)
    assert [guess.get("me").status for _ in range(3)] == [401, 401, 429]
    assert viewer.get("me").status == 200


def test_logins_are_locked_out_by_name_and_address(db: None, settings: Any) -> None:
    from webui.accounts.models import AuditEntry, User

    User.objects.create_user("erik", GOOD)
    here, there = Client(REMOTE_ADDR="198.51.100.1"), Client(REMOTE_ADDR="198.51.100.2")
    statuses = []
    for _ in range(settings.AXES_FAILURE_LIMIT):
        # A header that anybody can send does not make the client another one.
        answer = here.post(
            "/login", {"username": "erik", "password": "wrong"}, secure=True,
            headers={"X-Forwarded-For": "203.0.113.9", "X-Real-IP": "203.0.113.9"},
        )  # fmt: skip
        statuses.append(answer.status_code)
    assert statuses[-1] == 429
    assert here.post("/login", {"username": "erik", "password": GOOD}, secure=True).status_code == 429
    assert there.post("/login", {"username": "erik", "password": GOOD}, secure=True).status_code == 302
    told = [(one.action, one.result, one.address) for one in AuditEntry.objects.filter(username="erik")]
    assert told[0] == ("login", "done", "198.51.100.2")
    assert {("login", "failed", "198.51.100.1"), ("login", "refused", "198.51.100.1")} <= set(told)


def test_the_audit_log_tells_who_what_and_hides_secrets(client_of: MakeClient, admin: ApiClient) -> None:
    engineer = client_of("engineer", "anna")
    engineer.merge(
        "config/routing/bgp/neighbors/192.0.2.1", {"password": "battery-staple", "description": "up"}
    )
    engineer.put("config/interfaces/lan0/mtu", 10)
    entry = admin.get("audit?username=anna&action=config.commit").body["items"][0]
    assert admin.get("audit?username=").body["items"] == []
    assert (entry["address"], entry["via"], entry["result"]) == ("127.0.0.1", "token", "done")
    changes = {one["path"]: (one["before"], one["after"]) for one in entry["changes"]}
    assert changes["/routing/bgp/neighbors/192.0.2.1/description"] == (None, "up")
    assert changes["/routing/bgp/neighbors/192.0.2.1/password"] == ("********", "********")
    everything = str(admin.get("audit").body)
    assert "battery-staple" not in everything and PASSWORD not in everything and "$sealed$" not in everything


def test_the_audit_log_keeps_no_large_values(engineer: ApiClient, admin: ApiClient) -> None:
    rules = {str(n): {"action": "permit", "source": f"10.0.{n}.0/24"} for n in range(1, 256)}
    rules |= {str(n + 255): {"action": "deny", "source": f"10.1.{n}.0/24"} for n in range(1, 256)}
    assert engineer.put("config/acls/large", {"rules": rules}).status == 200
    (change,) = admin.get("audit").body["items"][0]["changes"]
    assert change["path"] == "/acls/large" and "see the revision" in change["after"]


def test_a_failed_commit_is_in_the_audit_log(engineer: ApiClient, admin: ApiClient, router: Any) -> None:
    router.routing.refuses = "route 203.0.113.0/24"
    engineer.put("config/routing/static/203.0.113.0~124", {"next_hops": [{"address": "10.10.0.3"}]})
    entry = admin.get("audit").body["items"][0]
    assert (entry["action"], entry["result"]) == ("config.commit", "failed") and "refused" in entry["detail"]


def test_the_audit_log_is_append_only(admin: ApiClient) -> None:
    from webui.accounts.models import AuditEntry
    from webui.accounts.models.audit_entry import AppendOnly

    admin.delete(f"tokens/{admin.get('tokens').body['items'][0]['id']}")
    entry = AuditEntry.objects.all()[0]
    for act in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.all().update(result="x"),
    ):
        with pytest.raises(AppendOnly):
            act()
    for statement in ("UPDATE accounts_auditentry SET result = 'x'", "DELETE FROM accounts_auditentry"):
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
