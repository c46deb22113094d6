"""The web half as it is deployed: TLS, static files, headers, the stream, limits, the login page."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
import ssl
import stat
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.api.served import Served, served


@pytest.fixture(scope="module")
def web() -> Iterator[Served]:
    with served() as running:
        yield running


def test_the_login_page_leads_in_and_its_files_have_hashed_names(web: Served) -> None:
    with web.http() as http:
        page = http.get("/login")
        assert page.status_code == 200
        files = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
        assert files and all(re.search(r"\.[0-9a-f]{12}\.", one) for one in files), files
        for one in files:
            answer = http.get(one, headers={"Accept-Encoding": "gzip"})
            assert answer.status_code == 200 and "immutable" in answer.headers["Cache-Control"], one
        form = {"username": web.username, "password": web.password}
        (form["csrfmiddlewaretoken"],) = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        inside = http.post("/login", data=form, headers={"Referer": f"{web.base_url}/login"})
        assert inside.status_code == 302, inside.text
        assert http.get("/api/v1/me").json()["user"]["role"] == "admin"
        cookies = " ".join(inside.headers.get_list("Set-Cookie"))
        assert "HttpOnly" in cookies and "Secure" in cookies and "SameSite=Lax" in cookies


def test_headers(web: Served) -> None:
    with web.http(web.token) as http:
        for path in ("/login", "/api/v1/status", "/nothing", "/api/nothing"):
            headers = http.get(path).headers
            policy = headers["Content-Security-Policy"]
            assert (
                "unsafe" not in policy
                and "default-src 'self'" in policy
                and "frame-ancestors 'none'" in policy
            )
            assert "max-age=31536000" in headers["Strict-Transport-Security"]
            assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
            assert "no-store" in headers["Cache-Control"] and "server" not in headers
        assert http.get("/nothing").status_code == 404
        assert http.get("/static/../secret_key").status_code == 404


def test_the_stream_gives_samples(web: Served) -> None:
    with web.http(web.token) as http, http.stream("GET", "/api/v1/counters/stream") as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        found = [line for line in (next(lines) for _ in range(12)) if line.startswith("data: ")]
        assert "lan0" in json.loads(found[0].removeprefix("data: "))["interfaces"]
    with web.http() as http:
        assert http.get("/api/v1/counters/stream").status_code == 401


def test_a_body_past_the_limit_is_refused_before_it_is_sent(web: Served) -> None:
    context = ssl.create_default_context(cafile=str(web.ca_file))
    port = urlsplit(web.base_url).port or 443
    with (
        socket.create_connection(("127.0.0.1", port), 10) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as secure,
    ):
        secure.sendall(b"PUT /api/v1/config HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
        answer = secure.recv(4096)
    assert answer.startswith(b"HTTP/1.1 413") and b"application/problem+json" in answer


def test_a_body_without_a_length_is_limited(web: Served) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * 1024 * 1024

    with web.http(web.token) as http:
        answer = http.put("/api/v1/config", content=endless(), headers={"Content-Type": "application/json"})
        assert answer.status_code == 413


def test_files_of_the_state_are_private(web: Served) -> None:
    assert stat.S_IMODE((web.state_dir / "secret_key").stat().st_mode) == 0o600
    assert stat.S_IMODE(web.state_dir.stat().st_mode) == 0o700
    with sqlite3.connect(web.state_dir / "webui.sqlite3") as database:
        assert database.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_a_path_reaches_the_router(web: Served) -> None:
    route = {"next_hops": [{"address": "10.10.0.3"}]}
    with web.http(web.token) as http:
        answer = http.put("/api/v1/config/routing/static/203.0.113.0~124", json=route)
        assert answer.status_code == 200, answer.text
        assert "route 203.0.113.0/24" in web.router.routing.state
        assert (
            http.post("/api/v1/rollback", json={"revision": answer.json()["revision"] - 1}).status_code == 200
        )
        assert "route 203.0.113.0/24" not in web.router.routing.state


def test_a_job_runs_in_process(web: Served) -> None:
    with web.http(web.token) as http:
        started = http.post("/api/v1/tools/ping", json={"destination": "10.10.0.2", "count": 1})
        assert started.status_code == 202
        deadline = time.monotonic() + 15
        while http.get(started.headers["Location"]).json()["state"] in ("queued", "running"):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_only_a_trusted_proxy_says_who_the_client_is(web: Served) -> None:
    told = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https"}

    def address_of_last_entry(at: Served) -> str:
        with at.http(at.token) as http:
            assert http.post("/api/v1/changes", json={"title": "x"}, headers=told).status_code == 201
            change = http.get("/api/v1/changes").json()["items"][0]["id"]
            assert http.delete(f"/api/v1/changes/{change}", headers=told).status_code == 204
            return str(http.get("/api/v1/audit").json()["items"][0]["address"])

    assert address_of_last_entry(web) == "127.0.0.1"
    with served(MILLRACE_TRUSTED_PROXIES="127.0.0.1") as behind:
        assert address_of_last_entry(behind) == "198.51.100.7"
