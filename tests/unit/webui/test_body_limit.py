"""A large body is read only from a sender with permission; JSON of too many values is never parsed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from appliance.config import load
from appliance.errors import ValidationFailed
from webui.http.body_limit import STRANGER_BYTES, BodyLimit, Refusal

STRANGER = Refusal(401, "Sign in.", {"WWW-Authenticate": "Bearer"})


class Site:
    """An application that reads the whole body, as Django does, behind the limit."""

    def __init__(self, sender: Refusal | None, most_bytes: int = 1 << 20) -> None:
        self.asked = 0
        self.read_bytes = 0
        self.sent: list[dict[str, Any]] = []
        self._sender = sender
        self._limit = BodyLimit(self._application, lambda _: most_bytes, self._check)

    async def _check(self, scope: dict[str, Any]) -> Refusal | None:
        self.asked += 1
        return self._sender

    async def _application(self, scope: Any, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            self.read_bytes += len(message["body"])
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    def request(self, size: int, declared: bool, part: int = 16 * 1024) -> int:
        """Send a body of `size` bytes; returns the status."""
        left = size

        async def receive() -> dict[str, Any]:
            nonlocal left
            now = min(part, left)
            left -= now
            return {"type": "http.request", "body": b"x" * now, "more_body": left > 0}

        async def send(message: dict[str, Any]) -> None:
            self.sent.append(message)

        headers = [(b"content-length", str(size).encode())] if declared else []
        asyncio.run(self._limit({"type": "http", "path": "/", "headers": headers}, receive, send))
        return int(self.sent[0]["status"])


@pytest.mark.parametrize("declared", [True, False])
def test_a_stranger_is_read_no_further_than_a_login_needs(declared: bool) -> None:
    small = Site(STRANGER)
    assert small.request(STRANGER_BYTES, declared) == 200 and small.asked == 0
    large = Site(STRANGER)
    assert large.request(1 << 20, declared) == 401 and large.asked == 1
    assert large.read_bytes <= (0 if declared else STRANGER_BYTES)
    assert json.loads(large.sent[1]["body"])["detail"] == "Sign in."
    assert (b"www-authenticate", b"Bearer") in large.sent[0]["headers"]


@pytest.mark.parametrize("declared", [True, False])
def test_a_known_sender_is_asked_for_once_and_limited_too(declared: bool) -> None:
    site = Site(None)
    assert site.request(1 << 20, declared) == 200 and site.asked == 1 and site.read_bytes == 1 << 20
    site = Site(None)
    assert site.request((1 << 20) + 1, declared) == 413


def test_a_lying_length_gains_nothing() -> None:
    site = Site(STRANGER)
    site_scope_size = 10
    assert site.request(site_scope_size, True) == 200
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 65537, "more_body": True}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/", "headers": [(b"content-length", b"10")]}
    asyncio.run(site._limit(scope, receive, send))
    assert sent[0]["status"] == 401


BOMBS = {
    "a list of numbers": b"[" + b"1," * 1_900_000 + b"1]",
    "empty lists": b"[" + b"[]," * 1_300_000 + b"[]]",
    "empty objects": b"[" + b"{}," * 1_300_000 + b"{}]",
    "text": ("[" + "1," * 1_900_000 + "1]").encode(),
}


@pytest.mark.parametrize("what", BOMBS)
def test_a_bomb_is_refused_before_it_is_parsed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def parsed(*_: object, **__: object) -> None:
        raise AssertionError("was parsed")

    monkeypatch.setattr("appliance.config.load.json.loads", parsed)
    with pytest.raises(ValidationFailed) as refused:
        load.parse_json(BOMBS[what], most_values=1_000_000)
    assert "holds more than 1000000 values" in refused.value.problems[0].message


def test_counting_never_finds_fewer_values_than_there_are() -> None:
    def values(node: Any) -> int:
        if isinstance(node, dict):
            return 1 + sum(values(child) for child in node.values())
        if isinstance(node, list):
            return 1 + sum(values(child) for child in node)
        return 1

    for text in ("1", "[]", "[[]]", '{"a": [1, 2, {"b": null}], "c": "x,y[z"}', "[[1], [2], []]", '"a,b"'):
        assert load.values_at_most(text) >= values(json.loads(text)), text
        assert load.values_at_most(text.encode()) == load.values_at_most(text)


def test_a_document_of_a_hundred_thousand_routes_is_not_too_many() -> None:
    from webui.api.bodies import DOCUMENT_VALUES

    hop = {"next_hops": [{"address": "192.0.2.1"}]}
    routes = {f"10.{n >> 8 & 255}.{n & 255}.{n >> 16}/32": hop for n in range(100_000)}
    text = json.dumps({"routing": {"static": routes}})
    assert load.values_at_most(text) < DOCUMENT_VALUES // 2
