"""PostgreSQL is killed under the web half: every request answers 503 until it is back, and none 500."""

from __future__ import annotations

import re
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
import pytest
from django.urls import get_resolver

from appliance.state.interfaces import InterfaceState
from tests.api.served import Served, served
from tests.api.test_get_is_safe import STREAMS, _addresses
from tests.live_lab import wait_until
from tests.services import Addresses, cluster, make_cluster


class Database:
    """A PostgreSQL of this module's own, to be killed and started again."""

    def __init__(self, at: Addresses) -> None:
        self._at, self._running = at, ExitStack()
        make_cluster(at)

    @property
    def url(self) -> str:
        return self._at.postgres_url

    def start(self) -> None:
        self._running.enter_context(cluster(self._at, end=signal.SIGQUIT))

    def kill(self) -> None:
        """A crash: no connection is closed properly."""
        self._running.close()

    def end_connections(self) -> None:
        """End every connection except the one that does this."""
        with psycopg.connect(self.url) as server:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with tempfile.TemporaryDirectory(prefix="mr-pg-", ignore_cleanup_errors=True) as directory:
        Path(directory).chmod(0o755)
        made = Database(Addresses(Path(directory)))
        made.start()
        try:
            yield made
        finally:
            made.kill()


@pytest.fixture(scope="module")
def web(database: Database) -> Iterator[Served]:
    with served(DATABASE_URL=database.url, CELERY_BROKER_URL="memory://") as running:
        yield running


@pytest.fixture
def person(web: Served) -> Iterator[httpx.Client]:
    """Signed in by the login page."""
    with web.http() as http:
        http.headers["Referer"] = f"{web.base_url}/login"
        token = _csrf(http.get("/login").text)
        form = {"username": web.username, "password": web.password, "csrfmiddlewaretoken": token}
        assert http.post("/login", data=form).status_code == 302
        yield http


def _csrf(page: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def _walk(http: httpx.Client) -> dict[str, httpx.Response]:
    """Every address: the API's with a token, pages with a session."""
    by_token = "Authorization" in http.headers
    found = sorted({path for path in _addresses(get_resolver()) if path not in STREAMS})
    return {path: http.get("/" + path) for path in found if path.startswith(("api", "metrics")) == by_token}


def _is_refusal(answer: httpx.Response) -> bool:
    kind = answer.headers["Content-Type"]
    expected = "application/problem+json" if answer.url.path.startswith(("/api", "/metrics")) else "text/html"
    return answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0 and kind.startswith(expected)


def test_every_request_is_a_503_while_the_database_is_away_and_answered_after(
    web: Served, database: Database, person: httpx.Client
) -> None:
    with web.http(web.token) as program, web.http() as stranger, ExitStack() as streams:
        before = {client: _walk(client) for client in (person, program)}
        for found in before.values():
            assert sum(answer.status_code == 200 for answer in found.values()) > 15
        token = _csrf(person.get("/tokens").text)
        stranger_token = _csrf(stranger.get("/login").text)
        lines = streams.enter_context(
            program.stream("GET", "/api/v1/counters/stream?fields=rx_bytes&interfaces=lan0")
        ).iter_lines()
        assert any(line.startswith("data: ") for line in lines)

        database.kill()
        try:
            for client, found in before.items():
                for path, answer in _walk(client).items():
                    if found[path].status_code in (200, 302):
                        assert _is_refusal(answer), (path, answer.status_code, answer.text[:300])
                    assert answer.status_code < 500 or _is_refusal(answer), (path, answer.text[:300])
            writes = [
                program.put("/api/v1/config/system/hostname", json="outage"),
                program.post("/api/v1/confirm"),
                program.post("/api/v1/changes", json={"title": "x"}),
                program.put("/api/v1/config", content=b" " * 100_000),
                program.get("/api/v1/counters/stream?fields=rx_bytes&interfaces=lan0"),
                person.post("/changes/confirm", data={"csrfmiddlewaretoken": token}),
                person.post("/logout", data={"csrfmiddlewaretoken": token}),
                stranger.post(
                    "/login",
                    data={
                        "username": web.username,
                        "password": web.password,
                        "csrfmiddlewaretoken": stranger_token,
                    },
                    headers={"Referer": f"{web.base_url}/login"},
                ),
            ]
            for answer in writes:
                assert _is_refusal(answer), (answer.request.url, answer.status_code, answer.text[:300])
            # Nobody can tell whether its reader is still permitted.
            with pytest.raises((httpx.RemoteProtocolError, StopIteration)):
                while True:
                    next(lines)
        finally:
            database.start()
        wait_until(lambda: program.get("/api/v1/me").status_code == 200, timeout_s=30, what="an answer again")
        for client, found in before.items():
            after = {path: answer.status_code for path, answer in _walk(client).items()}
            assert after == {path: answer.status_code for path, answer in found.items()}


def test_a_connection_that_dies_in_the_middle_of_a_request(
    web: Served, database: Database, person: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go = threading.Event(), threading.Event()
    seen = web.router.dataplane.interfaces_state

    def held() -> list[InterfaceState]:
        asked.set()
        assert go.wait(60)
        return seen()

    monkeypatch.setattr(web.router.dataplane, "interfaces_state", held)
    answers: list[httpx.Response] = []
    asking = threading.Thread(target=lambda: answers.append(person.get("/interfaces/lan0")))
    asking.start()
    try:
        assert asked.wait(30)
        database.end_connections()
    finally:
        go.set()
        asking.join(60)
    (answer,) = answers
    assert _is_refusal(answer), (answer.status_code, answer.text[:300])
    assert person.get("/interfaces/lan0").status_code == 200


@pytest.mark.parametrize("path", ["/", "/login", "/api/v1/me", "/api/v1/status"])
def test_a_nul_in_a_cookie_is_a_bad_request(web: Served, path: str) -> None:
    with web.http() as http:
        for name in ("sessionid", "csrftoken", "millrace_device", "other"):
            answer = http.get(path, headers={"Cookie": f'{name}="a\\000b"'})
            assert answer.status_code == 400 and name in answer.text, (name, answer.text[:300])
