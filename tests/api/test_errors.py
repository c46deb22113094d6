"""Every error is a problem document, and no input is a 500."""

from __future__ import annotations

import pytest

from tests.api.conftest import ApiClient
from tests.api.router_in_memory import RouterInMemory

DEEP = b"[" * 100_000
HALF_DEEP = b'{"a":' * 500 + b"1" + b"}" * 500

HOSTILE_BODIES: dict[str, bytes] = {
    "empty": b"",
    "not JSON": b"{",
    "deep": DEEP,
    "half deep": HALF_DEEP,
    "huge number": b'{"mtu": 1' + b"0" * 5000 + b"}",
    "large exponent": b'{"mtu": 1e400}',
    "NaN": b'{"mtu": NaN}',
    "NUL": b'{"description": "a\\u0000b"}',
    "raw NUL": b'{"description": "a\x00b"}',
    "lone surrogate": b'{"description": "\\ud800"}',
    "surrogate key": b'{"\\ud800": 1}',
    "not UTF-8": b'{"description": "\xff\xfe"}',
    "duplicate key": b'{"mtu": 1500, "mtu": 1501}',
    "a list": b"[1, 2]",
    "null": b"null",
    "a string": b'"x"',
    "true": b"true",
    "a number": b"-0.5",
    "line feed in a description": b'{"description": "a\\nno router bgp"}',
    "prototype": b'{"__proto__": {"x": 1}}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "large": b'{"description": "' + b"a" * 200_000 + b'"}',
}


@pytest.mark.parametrize("what", HOSTILE_BODIES)
def test_hostile_bodies_of_the_configuration(what: str, engineer: ApiClient, router: RouterInMemory) -> None:
    before = router.client.config()
    body = HOSTILE_BODIES[what]
    for path in ("config", "config/interfaces/lan0", "config/interfaces/lan0/description", "config/acls"):
        for method, kind in (
            ("PUT", "application/json"),
            ("PATCH", "application/merge-patch+json"),
            ("PATCH", "application/json-patch+json"),
        ):
            answer = engineer(method, path + "?dry_run=true", raw=body, content_type=kind)
            assert answer.status in (200, 400, 413, 415, 422), (method, path, answer)
            if answer.status == 422:
                assert answer.body["errors"], answer.body
    assert router.client.config() == before


@pytest.mark.parametrize("what", HOSTILE_BODIES)
def test_hostile_bodies_elsewhere(what: str, admin: ApiClient) -> None:
    for path in ("changes", "users", "tokens", "rollback", "tools/ping", "changes/1/commit"):
        answer = admin("POST", path, raw=HOSTILE_BODIES[what])
        assert answer.status in (201, 400, 404, 413, 415, 422), (path, answer)


HOSTILE_PATHS = [
    "config/%00",
    "config/interfaces/%00",
    "config/interfaces/a%0ab",
    "config/interfaces/%ff%fe",
    "config/interfaces/~2",
    "config/interfaces/~",
    "config/interfaces//mtu",
    "config/interfaces/lan0/addresses/99999999999999999999",
    "config/interfaces/lan0/addresses/-1",
    "config/interfaces/lan0/addresses/-",
    "config/interfaces/lan0/mtu/x",
    "config/routing/static/nonsense",
    "config/acls/edge-in/rules/abc",
    "config/acls/edge-in/rules/0",
    "config/" + "a/" * 500,
    "config/..%2f..%2fetc",
    "config/interfaces/%F0%9F%92%A9",
    "config/",
    "changes/0",
    "changes/-1",
    "changes/99999999999999999999999",
    "changes/abc",
    "revisions/99999999999999999999999",
    "jobs/not-a-uuid",
    "jobs/00000000-0000-0000-0000-000000000000",
    "users/0",
    "commits/%00",
    "commits/..%2fstatus",
    "state/bgp/neighbors/x",
    "state/bgp/neighbors/fe80::1%25eth0",
    "state/nothing",
    "nothing",
    "",
]


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_hostile_paths(path: str, admin: ApiClient) -> None:
    for method in ("GET", "PUT", "DELETE", "PATCH", "POST"):
        body: dict[str, str] | None = {} if method in ("PUT", "POST") else None
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        answer = admin(method, f"/api/v1/{path}", body, content_type=kind)
        assert 400 <= answer.status < 500, (method, path, answer)


HOSTILE_QUERIES = [
    "changes?limit=0",
    "changes?limit=x",
    "changes?offset=-1",
    "changes?offset=99999999999999999999",
    "changes?state=other",
    "counters/history?range=1y",
    "state/routes?prefix=%00",
    "state/routes?prefix=nonsense",
    "state/routes?family=ipx",
    "state/routes?protocol=a%0ab",
    "config?change=99999999999999999999",
    "config?change=x",
]


@pytest.mark.parametrize("path", HOSTILE_QUERIES)
def test_hostile_queries(path: str, admin: ApiClient) -> None:
    answer = admin.get(path)
    assert answer.status == 422, answer
    assert answer.body["errors"][0]["pointer"].startswith("/")


def test_odd_text_in_filters_finds_nothing(admin: ApiClient) -> None:
    for path in (
        "revisions?search=%00",
        "audit?username=%00",
        "audit?action=%ff%00",
        "revisions?search=%ed%a0%80",
    ):
        assert admin.get(path).status in (200, 422), path


def test_statuses(engineer: ApiClient) -> None:
    assert engineer("POST", "config", {}).status == 405
    assert engineer("PUT", "status", {}).headers["Allow"] == "GET"
    assert engineer("PUT", "config/system", raw=b"{}", content_type="text/plain").status == 415
    refused = engineer("PATCH", "config/system", raw=b"{}", content_type="application/json")
    assert refused.status == 415 and "application/merge-patch+json" in refused.headers["Accept-Patch"]
    assert (
        engineer("POST", "changes", raw=b"title=x", content_type="application/x-www-form-urlencoded").status
        == 415
    )
    assert ApiClient().get("/api").status == 404
    assert ApiClient().get("/api/v2/config").status == 404
    too_much = b'"' + b"a" * (33 * 1024 * 1024) + b'"'
    assert engineer("PUT", "config/system", raw=too_much).status == 413


def test_strangers(router: RouterInMemory, db: None) -> None:
    for token in (None, "x", "mr_", "mr_00000000_" + "a" * 43, "\u00e9", "a" * 5000):
        answer = ApiClient(token and token.encode("latin-1", "replace").decode("latin-1")).get("config")
        assert answer.status == 401 and answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert ApiClient(headers={"Authorization": "Basic YTpi"}).get("config").status == 401


def test_an_unforeseen_error_is_a_bare_500(engineer: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr("webui.api.operations.config.documents.value_at", broken)
    answer = engineer.get("config")
    assert answer.status == 500 and "secret inside" not in str(answer.body)
