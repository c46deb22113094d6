"""A stolen token gives nothing beyond itself, and an old password gives nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import ApiClient, MakeClient

OLD = "the old long passphrase"
NEW = "a new long passphrase"


@pytest.fixture(autouse=True)
def _fast_hashes(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _no_guesses() -> None:
    from webui.accounts import services

    services._own_passwords.clear()


def _user(name: str, role: str = "viewer") -> Any:
    from webui.accounts.models import User

    user, _ = User.objects.get_or_create(username=name, defaults={"role": role, "password": "!"})
    user.set_password(OLD)
    user.save()
    return user


# Requests made with a token, and the response's status once the token's owner gives the password.
GIVES_ACCESS: dict[str, tuple[str, str, dict[str, Any], int]] = {
    "make a user": ("POST", "users", {"username": "mallory", "password": NEW, "role": "admin"}, 201),
    "set another's password": ("PATCH", "users/{other}", {"password": NEW}, 200),
    "raise a role": ("PATCH", "users/{other}", {"role": "admin"}, 200),
    "let in again": ("PATCH", "users/{disabled}", {"is_active": True}, 200),
    "set one's own password": ("PATCH", "users/{me}", {"password": NEW}, 200),
    "set one's own password elsewhere": ("POST", "me/password", {"password": NEW}, 200),
}


@pytest.mark.parametrize("what", GIVES_ACCESS)
def test_a_token_gives_nobody_access(what: str, admin: ApiClient) -> None:
    from webui.accounts.models import AuditEntry, User

    me, other, disabled = _user("admin"), _user("otto"), _user("dora")
    User.objects.filter(pk=disabled.pk).update(is_active=False)
    method, path, body, status = GIVES_ACCESS[what]
    path = path.format(me=me.pk, other=other.pk, disabled=disabled.pk)
    before = list(User.objects.order_by("pk").values())
    assert admin(method, path, body).status in (403, 422)
    wrong = admin(method, path, {**body, "current_password": "wrong"})
    assert wrong.status == 422 and wrong.body["errors"][0]["pointer"] == "/current_password"
    assert list(User.objects.order_by("pk").values()) == before
    assert AuditEntry.objects.filter(action="user.password.check", result="failed").exists()
    assert admin(method, path, {**body, "current_password": OLD}).status == status


TAKES_ACCESS: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "lower a role": ("PATCH", "users/{other}", {"role": "viewer"}),
    "keep out": ("PATCH", "users/{other}", {"is_active": False}),
    "remove": ("DELETE", "users/{other}", None),
}


@pytest.mark.parametrize("what", TAKES_ACCESS)
def test_a_token_may_take_access_away(what: str, admin: ApiClient) -> None:
    method, path, body = TAKES_ACCESS[what]
    other = _user("otto", "engineer")
    assert admin(method, path.format(other=other.pk), body).status in (200, 204)


@pytest.mark.parametrize("expires", [None, "later", "sooner"])
@pytest.mark.parametrize("write", [True, False])
def test_a_token_makes_no_token(expires: str | None, write: bool, admin: ApiClient) -> None:
    from webui.accounts.models import ApiToken

    before = ApiToken.objects.count()
    times = {"later": timedelta(days=900), "sooner": timedelta(minutes=1)}
    body: dict[str, Any] = {"name": "x", "write": write}
    if expires:
        body["expires_at"] = (datetime.now(UTC) + times[expires]).isoformat()
    assert admin.post("tokens", body).status == 403
    assert ApiToken.objects.count() == before


def test_guessing_the_present_password_ends(admin: ApiClient) -> None:
    _user("admin")
    statuses = [
        admin.post("me/password", {"password": NEW, "current_password": f"wrong{n}"}).status
        for n in range(12)
    ]
    assert statuses[0] == 422 and statuses[-1] == 429
    refused = admin.post("me/password", {"password": NEW, "current_password": OLD})
    assert refused.status == 429 and int(refused.headers["Retry-After"]) > 0


def test_a_new_password_ends_sessions_and_tokens_and_says_so(
    client_of: MakeClient, session_of: MakeClient
) -> None:
    from webui.accounts.models import AuditEntry

    token, browser, other = client_of("engineer"), session_of("engineer"), client_of("viewer")
    user = _user("engineer")
    browser.browser.force_login(user, "django.contrib.auth.backends.ModelBackend")  # type: ignore[union-attr]
    assert token.get("me").status == browser.get("me").status == 200
    answer = browser.post("me/password", {"password": NEW, "current_password": OLD})
    # One made by the fixture of the token, one by that of the session.
    assert answer.status == 200 and answer.body == {"sessions_ended": True, "tokens_ended": 2}
    assert token.get("me").status == browser.get("me").status == 401
    assert other.get("me").status == 200
    entry = AuditEntry.objects.get(action="user.password")
    assert entry.detail == "all sessions ended; 2 tokens ended"


def test_tokens_stay_when_asked_to(client_of: MakeClient, session_of: MakeClient) -> None:
    token, admin = client_of("engineer"), session_of("admin")
    user = _user("engineer")
    answer = admin("PATCH", f"users/{user.pk}", {"password": NEW, "end_tokens": False})
    assert answer.body["password_changed"] == {"sessions_ended": True, "tokens_ended": 0}
    assert token.get("me").status == 200
    answer = admin("PATCH", f"users/{user.pk}", {"password": NEW})
    assert answer.body["password_changed"] == {"sessions_ended": True, "tokens_ended": 1}
    assert token.get("me").status == 401
    assert admin("PATCH", f"users/{user.pk}", {"role": "viewer"}).body["password_changed"] is None


def test_one_change_that_is_refused_changes_nothing(session_of: MakeClient) -> None:
    admin = session_of("admin")
    user = _user("otto")
    assert admin("PATCH", f"users/{user.pk}", {"password": NEW, "role": "root"}).status == 422
    user.refresh_from_db()
    assert user.check_password(OLD)


@pytest.mark.parametrize("way", ["token", "session"])
def test_a_role_or_a_lock_holds_from_the_next_request(
    way: str, client_of: MakeClient, session_of: MakeClient
) -> None:
    from webui.accounts.models import User

    client = client_of("engineer") if way == "token" else session_of("engineer")
    assert client.post("changes", {"title": "x"}).status == 201
    User.objects.filter(username="engineer").update(role="viewer")
    assert client.post("changes", {"title": "x"}).status == 403
    User.objects.filter(username="engineer").update(is_active=False)
    assert client.get("me").status == 401


def test_pages_say_what_ended(session_of: MakeClient) -> None:
    session_of("engineer")
    user = _user("engineer")
    browser = Client()
    browser.force_login(user, "django.contrib.auth.backends.ModelBackend")
    form = {"present": OLD, "password": NEW, "again": NEW, "end_tokens": "on"}
    page = browser.post("/password", form, secure=True, follow=True)
    assert "Your other sessions ended; 1 API token ended." in page.content.decode()
    assert browser.get("/tokens", secure=True).status_code == 200
    wrong = browser.post("/password", form, secure=True)
    assert wrong.status_code == 422 and "The present password is wrong." in wrong.content.decode()
    page = browser.post(
        "/password", {"present": NEW, "password": OLD, "again": OLD}, secure=True, follow=True
    )
    assert "Your other sessions ended; API tokens were kept." in page.content.decode()
