"""The REST API on a router in memory: one client for each role."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client

from tests.api.router_in_memory import RouterInMemory


@dataclass
class Answer:
    """A response, its body read."""

    status: int
    headers: dict[str, str]
    body: Any


@dataclass
class ApiClient:
    """Calls the API with a token, like a program, or with a session, like a page.

    Checks the form of problem documents.
    """

    token: str | None = None
    browser: Client | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Answer:
        extra = {**self.headers, **(headers or {})}
        if self.token:
            extra["Authorization"] = f"Bearer {self.token}"
        data = raw if raw is not None else (b"" if body is None else json.dumps(body).encode())
        if body is None and raw is None and method in ("POST", "DELETE", "GET"):
            content_type = ""
        response = (self.browser or Client(raise_request_exception=True)).generic(
            method,
            path if path.startswith("/") else f"/api/v1/{path}",
            data,
            content_type=content_type,
            secure=True,
            headers=extra,
        )
        kind = response.headers.get("Content-Type", "")
        content = b"" if response.streaming else response.content
        parsed: Any = json.loads(content) if "json" in kind and content else content
        if response.status_code >= 400:
            assert kind.startswith("application/problem+json"), (response.status_code, kind, content[:200])
            assert parsed["status"] == response.status_code
            assert all("pointer" in one and "detail" in one for one in parsed["errors"])
        return Answer(response.status_code, dict(response.headers), parsed)

    def get(self, path: str, **more: Any) -> Answer:
        return self("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Answer:
        return self("POST", path, {} if body is None else body, **more)

    def put(self, path: str, body: Any, **more: Any) -> Answer:
        return self("PUT", path, body, **more)

    def merge(self, path: str, body: Any, **more: Any) -> Answer:
        return self("PATCH", path, body, content_type="application/merge-patch+json", **more)

    def patch(self, path: str, body: Any, **more: Any) -> Answer:
        return self("PATCH", path, body, content_type="application/json-patch+json", **more)

    def delete(self, path: str, **more: Any) -> Answer:
        return self("DELETE", path, **more)


@pytest.fixture(autouse=True)
def nobody_tried_a_password() -> None:
    """The sign-in limits belong to the process: each test starts without any counts."""
    from webui.accounts.sign_in_gate import gate
    from webui.accounts.sign_in_tally import tally

    gate.forget()
    tally.forget()


@pytest.fixture(autouse=True)
def the_machines_own_sessions_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The router in memory has no namespace: the kernel would end the sessions of the machine itself."""
    monkeypatch.setattr("appliance.dataplane.linux.conntrack.end", lambda *_: 0)


@pytest.fixture
def router() -> Iterator[RouterInMemory]:
    """A fresh agent, which the web half uses for this test."""
    from django.conf import settings

    from appliance.config.dump import digest
    from webui.agent import replace_agent
    from webui.changes import running as what_runs

    with RouterInMemory() as running:
        replace_agent(running.client)
        before, settings.AGENT_SOCKET = settings.AGENT_SOCKET, str(running.socket)
        for one in caches:
            caches[one].clear()
        yield running
        # Requests share the cached running document: none may have changed it.
        seen = what_runs.last_seen()
        assert seen is None or digest(seen.sealed) == seen.digest
        what_runs.forget()
        settings.AGENT_SOCKET = before
        replace_agent(None)


MakeClient = Callable[..., ApiClient]


@pytest.fixture
def client_of(db: None, router: RouterInMemory) -> MakeClient:
    """A client with the token of a user of this role."""
    from webui.accounts import tokens
    from webui.accounts.actor import Actor
    from webui.accounts.models import User

    def make(role: str, username: str | None = None, write: bool = True) -> ApiClient:
        name = username or role
        user = User.objects.filter(username=name).first()
        if user is None:
            user = User(username=name, role=role, password="!")
            user.save()
        _, text = tokens.create(Actor(user, "127.0.0.1", "local"), user, "test", write, None)
        return ApiClient(text)

    return make


@pytest.fixture
def session_of(client_of: MakeClient) -> MakeClient:
    """A client that is signed in as a user of this role."""
    from webui.accounts.models import User

    def make(role: str, username: str | None = None) -> ApiClient:
        client_of(role, username)
        browser = Client()
        user = User.objects.get(username=username or role)
        browser.force_login(user, "django.contrib.auth.backends.ModelBackend")
        return ApiClient(browser=browser)

    return make


@pytest.fixture
def engineer(client_of: MakeClient) -> ApiClient:
    """May edit and commit."""
    return client_of("engineer")


@pytest.fixture
def viewer(client_of: MakeClient) -> ApiClient:
    """May only view."""
    return client_of("viewer")


@pytest.fixture
def admin(client_of: MakeClient) -> ApiClient:
    """May do everything."""
    return client_of("admin")
