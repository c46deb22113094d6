"""Which senders' bodies are read, and how much of each."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_query_names import OPERATIONS
from webui.api.bodies import DOCUMENT_VALUES, FORM_BYTES, FORM_VALUES
from webui.api.unasked_bodies import takes_body
from webui.http.body_allowance import check_sender, most_bytes


def _scope(path: str, token: str | None = None, cookie: str | None = None) -> dict[str, Any]:
    headers = []
    if token is not None:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    if cookie is not None:
        headers.append((b"cookie", f"sessionid={cookie}".encode()))
    return {"type": "http", "method": "PUT", "path": path, "query_string": b"", "headers": headers,
            "client": ["192.0.2.9", 1], "server": ["x", 443], "scheme": "https"}  # fmt: skip


TABLE = [
    # path, and the weakest role that may send large bodies there
    ("/api/v1/config", "engineer"),
    ("/api/v1/config/acls/edge", "engineer"),
    ("/api/v1/upgrade/file", "admin"),
    ("/api/v1/tokens", "viewer"),
    ("/edit/interfaces/lan0", "engineer"),
    ("/acls/paste/edge", "engineer"),
    ("/configuration/upload", "engineer"),
    ("/password", "viewer"),
]
ROLES = ("viewer", "operator", "engineer", "admin")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("path", "weakest"), TABLE)
def test_who_may_send_a_large_body(path: str, weakest: str, client_of: MakeClient) -> None:
    for role in ROLES:
        refusal = check_sender(_scope(path, token=client_of(role).token))
        allowed = ROLES.index(role) >= ROLES.index(weakest)
        assert (refusal is None) == allowed and (allowed or refusal.status == 403), (role, refusal)  # type: ignore[union-attr]
    for stranger in (_scope(path), _scope(path, token="mr_x"), _scope(path, cookie="a" * 32)):
        refused = check_sender(stranger)
        assert refused is not None and refused.status == 401


@pytest.mark.django_db(transaction=True)
def test_a_session_may_send_what_its_user_may(client_of: MakeClient) -> None:
    from django.test import Client

    from webui.accounts.models import User

    for role in ("viewer", "engineer"):
        client_of(role)
        browser = Client()
        user = User.objects.get(username=role)
        browser.force_login(user, "django.contrib.auth.backends.ModelBackend")
        scope = _scope("/edit/acls/edge", cookie=browser.cookies["sessionid"].value)
        assert (check_sender(scope) is None) == (role == "engineer")
        User.objects.filter(pk=user.pk).update(is_active=False)
        refused = check_sender(scope)
        assert refused is not None and refused.status == 401


def test_no_place_takes_more_than_it_needs() -> None:
    assert most_bytes("/api/v1/config") == most_bytes("/api/v1/config/system") == 32 * 1024 * 1024
    assert most_bytes("/api/v1/tokens") == 1024 * 1024
    # This body is read before the sender is authenticated.
    assert most_bytes("/login") == 16 * 1024


def test_a_bomb_is_413_and_is_not_parsed(engineer: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def parsed(*_: object, **__: object) -> None:
        raise AssertionError("was parsed")

    monkeypatch.setattr("webui.api.bodies.parse_json", parsed)
    bomb = b"[" + b"1," * 1_900_000 + b"1]"
    assert bomb.count(b",") > DOCUMENT_VALUES
    for path in ("config", "config/acls", "changes", "tokens"):
        assert engineer("PUT" if "config" in path else "POST", path, raw=bomb).status == 413
    small = b"[" + b"1," * FORM_VALUES + b"1]"
    assert len(small) < FORM_BYTES
    assert engineer("POST", "changes", raw=small).status == 413
    assert engineer("POST", "changes", raw=b'"' + b"a" * FORM_BYTES + b'"').status == 413


def test_a_body_that_an_operation_does_not_take_is_refused_by_every_one(
    admin: ApiClient, router: RouterInMemory
) -> None:
    before, ignored, tried = router.client.config(), {}, 0
    for path, operation in OPERATIONS:
        for method in operation.methods:
            if takes_body(operation):
                continue
            tried += 1
            answer = admin(method, path, {"confirm_s": 60})
            if answer.status != 422 or answer.body["errors"] != [
                {"pointer": "", "in": "body", "detail": answer.body["errors"][0]["detail"]}
            ]:
                ignored[method, path] = answer
    assert ignored == {} and tried > 50
    assert router.client.config() == before


def test_openapi_lists_the_operations_that_take_a_body(db: None) -> None:
    from webui.api.api import api

    described = {
        operation["operationId"]: "requestBody" in operation
        for operations in api.get_openapi_schema()["paths"].values()
        for operation in operations.values()
    }
    taking = {str(operation.operation_id): takes_body(operation) for _, operation in OPERATIONS}
    assert {name: takes for name, takes in taking.items() if described.get(name, takes) != takes} == {}


def test_an_empty_object_is_as_good_as_no_body(viewer: ApiClient) -> None:
    assert viewer("GET", "status").status == viewer("GET", "status", {}).status == 200


def test_what_is_wrong_with_a_body_is_told_only_to_who_may_call(client_of: MakeClient, db: None) -> None:
    assert ApiClient()("DELETE", "config/system", {"x": 1}).status == 401
    assert client_of("viewer")("DELETE", "config/system", {"x": 1}).status == 403


def test_a_body_too_large_to_be_read_is_refused_where_none_is_taken(admin: ApiClient) -> None:
    assert admin("POST", "changes/1/commit", {"x": "y" * (3 << 20)}).status in (413, 422)
