"""Urgent requests are answered in time, whatever else the agent has to do."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from appliance.agent import bodies
from appliance.client import AgentClient
from appliance.config.load import parse_json
from appliance.engine.engine import Engine
from appliance.errors import Conflict
from appliance.state.commit_options import CommitOptions
from tests.api.router_in_memory import RouterInMemory

LARGE = {"document": {"schema_version": 1, "interfaces": {f"lo{number}": {} for number in range(20_000)}}}


@pytest.fixture
def router() -> Iterator[RouterInMemory]:
    with RouterInMemory() as running:
        yield running


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Ends the requests that a test keeps waiting."""
    event = threading.Event()
    yield event
    event.set()


def _status_and_confirm_answer(router: RouterInMemory) -> None:
    prompt = AgentClient(router.socket, timeout_s=5)
    try:
        pending = prompt.status().pending_confirm
        assert pending is not None
        assert prompt.confirm("bob")["revision"] == pending["revision"]
        assert prompt.status().pending_confirm is None
    finally:
        prompt.close()


def _awaits_confirmation(router: RouterInMemory) -> None:
    wanted = {**router.client.config().document, "system": {"hostname": "r2"}}
    wanted["interfaces"] = {**wanted["interfaces"], "lo77": {"type": "loopback"}}
    router.client.commit(wanted, CommitOptions(author="alice", confirm_s=600))


def test_status_and_confirm_answer_while_a_large_body_is_parsed(
    router: RouterInMemory, release: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    _awaits_confirmation(router)
    begun = threading.Event()

    def slow(data: bytes) -> Any:
        if len(data) > 100_000:
            begun.set()
            assert release.wait(15)
        return parse_json(data)

    monkeypatch.setattr(bodies, "parse_json", slow)
    with ThreadPoolExecutor(1) as others:
        large = others.submit(router.client.validate, LARGE["document"])
        assert begun.wait(10)
        _status_and_confirm_answer(router)
        assert not large.done()
        release.set()
        assert large.result(30)


def test_status_and_confirm_answer_while_previews_and_commits_take_long(
    router: RouterInMemory, release: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    _awaits_confirmation(router)
    begun = threading.Semaphore(0)

    def slow(*_: object, **__: object) -> Any:
        begun.release()
        assert release.wait(15)
        raise Conflict("nobody waits for this")

    monkeypatch.setattr(Engine, "preview", slow)
    monkeypatch.setattr(Engine, "commit", slow)
    document = router.client.config().document

    def ask(path: str) -> int:
        return _status_of(router.socket, path, json.dumps({"document": document, "author": "eve"}).encode())

    with ThreadPoolExecutor(24) as others:
        asked = [others.submit(ask, path) for path in ["/v1/plan", "/v1/commit"] * 12]
        for _ in range(4):
            assert begun.acquire(timeout=10)
        _status_and_confirm_answer(router)
        release.set()
        for one in asked:
            one.result(30)


@pytest.mark.parametrize(
    ("path", "bytes_sent", "status"),
    [
        ("/v1/confirm", bodies.MAX_BODY_BYTES + 1, 413),
        ("/v1/rollback", bodies.MAX_BODY_BYTES + 1, 413),
        ("/v1/tools/ping", bodies.MAX_BODY_BYTES + 1, 413),
        ("/v1/plan", bodies.MAX_BODY_BYTES + 1, 422),
        ("/v1/commit", bodies.MAX_BODY_BYTES + 1, 422),
    ],
)
def test_each_endpoint_has_its_limit(router: RouterInMemory, path: str, bytes_sent: int, status: int) -> None:
    assert _status_of(router.socket, path, b'"' + b"x" * (bytes_sent - 2) + b'"') == status


def test_a_document_past_the_limit_is_refused_before_it_is_read(router: RouterInMemory) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(10)
        caller.connect(str(router.socket))
        length = bodies.MAX_DOCUMENT_BYTES + 1
        caller.sendall(f"POST /v1/plan HTTP/1.1\r\nHost: agent\r\nContent-Length: {length}\r\n\r\n".encode())
        assert caller.recv(100).startswith(b"HTTP/1.1 413")


def _status_of(path: Path, target: str, data: bytes) -> int:
    connection = http.client.HTTPConnection("agent", timeout=30)
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.sock.settimeout(30)
    connection.sock.connect(str(path))
    try:
        connection.request("POST", target, data, {"Content-Type": "application/json"})
        return connection.getresponse().status
    finally:
        connection.close()
