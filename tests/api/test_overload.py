"""More streams than database connections, and more requests than threads: answered or refused at once."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import AsyncIterator, Iterator

import httpx
import psycopg
import pytest

from appliance.state.interfaces import InterfaceState
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.served import Served, served
from tests.unit.engine.toys import ToyStep

DATABASE, CONNECTIONS, STREAMS = "web_overload", 22, 32


@pytest.fixture(scope="module")
def web(postgres_url: str) -> Iterator[Served]:
    """Its database accepts only two connections more than the lanes have threads."""
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"CREATE ROLE {DATABASE} LOGIN CONNECTION LIMIT {CONNECTIONS}")
        server.execute(f"CREATE DATABASE {DATABASE} OWNER {DATABASE}")
    url = postgres_url.replace("//postgres@", f"//{DATABASE}@").rsplit("/", 1)[0] + f"/{DATABASE}"
    # A broker is configured so that no job runs in the web process; no job is sent to it.
    with served(DATABASE_URL=url, CELERY_BROKER_URL="memory://") as running:
        yield running
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
        server.execute(f"DROP ROLE {DATABASE}")


def _client(web: Served) -> httpx.AsyncClient:
    context = ssl.create_default_context(cafile=str(web.ca_file))
    limits = httpx.Limits(max_connections=200)
    headers = {"Authorization": f"Bearer {web.token}"}
    return httpx.AsyncClient(
        base_url=f"{web.base_url}/api/v1", verify=context, headers=headers, limits=limits, timeout=60
    )


async def test_more_streams_than_connections_and_every_request_is_answered(
    web: Served, postgres_url: str
) -> None:
    web.router.wait_sampled()
    async with _client(web) as http, contextlib.AsyncExitStack() as open_streams:
        lines: list[AsyncIterator[str]] = []
        for _ in range(STREAMS):
            url = "/counters/stream?fields=rx_bytes&interfaces=lan0"
            answer = await open_streams.enter_async_context(http.stream("GET", url))
            assert answer.status_code == 200
            lines.append(answer.aiter_lines())
        for path in ("status", "state/interfaces", "state/bgp", "counters", "revisions", "me") * 5:
            assert (await http.get(f"/{path}")).status_code == 200, path
        for each in lines:
            while not (line := await anext(each)).startswith("data: "):
                pass
            assert '"lan0":{"rx_bytes":' in line and "tx_bytes" not in line
    with psycopg.connect(postgres_url) as server:
        row = server.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE usename = %s", (DATABASE,)
        ).fetchone()
    assert row is not None and row[0] <= CONNECTIONS - 2


async def test_a_full_lane_refuses_with_503_and_keeps_neither_status_nor_commit_out(
    web: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    seen = web.router.dataplane.interfaces_state

    def held() -> list[InterfaceState]:
        assert go.wait(60)
        return seen()

    monkeypatch.setattr(web.router.dataplane, "interfaces_state", held)
    try:
        async with _client(web) as http:
            asked = [asyncio.create_task(http.get("/state/interfaces")) for _ in range(80)]
            async with asyncio.timeout(60):
                while sum(task.done() for task in asked) < 40:
                    await asyncio.sleep(0.02)
            refused = [task.result() for task in asked if task.done()]
            for answer in refused:
                assert answer.status_code == 503 and answer.headers["Retry-After"] == "1", answer.text
                assert answer.headers["Content-Type"] == "application/problem+json"
                assert answer.json()["type"] == "urn:millrace:busy"
            # All threads for reads are busy; writes and health checks are not kept out.
            assert (await http.get("/status")).status_code == 200
            assert (await http.get("/state/health")).status_code == 200
            written = await http.put("/config/system/hostname?confirm_s=60", json="overload")
            assert written.status_code == 200 and written.json()["state"] == "done", written.text
            assert (await http.get(f"/commits/{written.json()['request_id']}")).status_code == 200
            assert (await http.post("/confirm")).status_code == 204
            assert (await http.get("/state/bgp")).status_code == 503
            go.set()
            statuses = [answer.status_code for answer in await asyncio.gather(*asked)]
            assert set(statuses) == {200, 503}, statuses
            assert (await http.get("/state/interfaces")).status_code == 200
    finally:
        go.set()


async def test_commits_that_wait_keep_neither_a_cancel_nor_a_confirmation_out(
    web: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, make = threading.Event(), web.router.routing.apply

    def held(step: ToyStep) -> None:
        assert go.wait(60)
        make(step)

    monkeypatch.setattr(web.router.routing, "apply", held)
    routes = [f"/config/routing/static/203.0.{number}.0~124" for number in range(100)]
    wanted = {"next_hops": [{"address": "10.10.0.2"}]}
    try:
        async with _client(web) as http:
            # More than may wait, in the lane and for their turn.
            asked = [asyncio.create_task(http.put(path, json=wanted)) for path in routes]
            async with asyncio.timeout(60):
                while not any(task.done() for task in asked):
                    await asyncio.sleep(0.02)
            assert (await http.post("/confirm")).status_code == 409
            found = (await http.get("/commits")).json()
            assert found["running"]["state"] == "applying"
            cancelled = await http.post(f"/commits/{found['running']['id']}/cancel")
            assert cancelled.status_code == 200, cancelled.text
            for one in found["queued"]:
                assert (await http.post(f"/commits/{one['id']}/cancel")).status_code == 200
            go.set()
            answers = await asyncio.gather(*asked)
            # Done, on its way, cancelled, or not begun.
            assert {answer.status_code for answer in answers} <= {200, 202, 409, 503}
            cancelled_type = "urn:millrace:commit-cancelled"
            kinds = {(answer.status_code, answer.json().get("type") == cancelled_type) for answer in answers}
            # Some found no place, neither in the lane nor among the commits that wait for their turn.
            assert (409, True) in kinds and kinds & {(409, False), (503, False)}, kinds
            async with asyncio.timeout(60):
                while (found := (await http.get("/commits")).json())["running"] or found["queued"]:
                    await asyncio.sleep(0.05)
    finally:
        go.set()


def test_who_reads_a_stream_is_looked_at_anew(
    client_of: MakeClient, router: RouterInMemory, db: None
) -> None:
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore
    from django.http import HttpRequest

    from webui.accounts.models import ApiToken, User
    from webui.accounts.roles import Role
    from webui.api.still_allowed import still_allowed

    viewer: ApiClient = client_of("viewer")
    user = User.objects.get(username="viewer")
    by_token = HttpRequest()
    by_token.META["HTTP_AUTHORIZATION"] = f"Bearer {viewer.token}"
    by_session = HttpRequest()
    by_session.session = SessionStore()
    by_session.session[SESSION_KEY] = str(user.pk)
    by_session.session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    by_session.session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    by_session.session.save()
    token, session = (still_allowed(request, Role.VIEWER) for request in (by_token, by_session))
    assert token() and session()
    assert not still_allowed(by_token, Role.ADMIN)() and not still_allowed(by_session, Role.ADMIN)()
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert not token() and not session()
    User.objects.filter(pk=user.pk).update(is_active=True)
    assert token() and session()
    ApiToken.objects.update(expires_at="2001-01-01T00:00:00Z")
    by_session.session.delete()
    assert not token() and not session()
    nobody = HttpRequest()
    nobody.session = SessionStore()
    assert not still_allowed(nobody, Role.VIEWER)()
