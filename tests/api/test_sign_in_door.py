"""The HTTP server distinguishes sign-ins before they have a thread: a flood keeps nobody out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.http import HttpResponse

from webui.accounts import known_devices
from webui.accounts.sign_in_gate import OF_A_SOURCE, gate
from webui.http.body_allowance import most_bytes
from webui.http.body_limit import BodyLimit
from webui.http.callers import callers
from webui.http.handler import LaneHandler
from webui.http.intake import Intake
from webui.http.lane_choice import SIGN_IN, STRANGERS

CSRF = "a" * 32
FORM = "application/x-www-form-urlencoded"
GOOD = "Correct-Horse-9-Battery"

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class Answer:
    """The response."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass
class Hashes:
    """Argon2, blocked until it may go on, so that the waiting requests can be inspected."""

    go: threading.Event = field(default_factory=threading.Event)
    passwords: list[str] = field(default_factory=list)

    def hash(self, password: str) -> bool:
        self.passwords.append(password)
        assert self.go.wait(60)
        return password == GOOD


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hashes]:
    held = Hashes()

    def verify(hasher: Argon2PasswordHasher, password: str, encoded: str) -> bool:
        return held.hash(password)

    def encode(hasher: Argon2PasswordHasher, password: str, salt: str) -> str:
        held.hash(password)
        return "x"

    monkeypatch.setattr(Argon2PasswordHasher, "verify", verify)
    monkeypatch.setattr(Argon2PasswordHasher, "must_update", lambda *_: False)
    monkeypatch.setattr(Argon2PasswordHasher, "encode", encode)
    yield held
    held.go.set()


@pytest.fixture
def erik(db: None) -> Any:
    from webui.accounts.models import User

    return User.objects.create_user("erik", GOOD, "admin")


class Site:
    """The web half as uvicorn has it, called directly."""

    def __init__(self) -> None:
        self.handler = LaneHandler()
        self.handler.load_middleware()
        self._served = Intake(BodyLimit(self.handler, most_bytes, self.handler.sender_refusal), callers.of)

    async def login(
        self, address: str, username: str, password: str, cookie: str = "", **more: Any
    ) -> Answer:
        form = urlencode({"username": username, "password": password, "csrfmiddlewaretoken": CSRF})
        return await self.post(address, form.encode(), cookie, **more)

    async def post(
        self, address: str, body: bytes, cookie: str = "", kind: str = FORM, query: bytes = b""
    ) -> Answer:
        answer, messages = Answer(), iter([{"type": "http.request", "body": body, "more_body": False}])
        headers = [
            (b"host", b"router"),
            (b"content-type", kind.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"referer", b"https://router/login"),
            (b"cookie", f"csrftoken={CSRF}; {cookie}".encode()),
        ]
        scope = {
            "type": "http", "method": "POST", "path": "/login", "query_string": query, "scheme": "https",
            "headers": headers, "client": (address, 1), "server": ("router", 443),
        }  # fmt: skip

        async def receive() -> dict[str, Any]:
            return next(messages)

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = {k.decode().lower(): v.decode() for k, v in message["headers"]}
            else:
                answer.body += message.get("body", b"")

        await self._served(scope, receive, send)
        return answer


@asynccontextmanager
async def _site() -> AsyncIterator[Site]:
    site = Site()
    try:
        yield site
    finally:
        from django.db import connections

        for lane in site.handler._lanes.values():
            for _ in range(lane.size.threads):
                await asyncio.wrap_future(lane._pool.submit(connections.close_all))
            lane.close()


async def _until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_new_address_with_the_right_password_is_next_after_a_hundred_of_a_flood(
    erik: Any, hashes: Hashes
) -> None:
    async with _site() as site:
        flood = [
            asyncio.create_task(site.login("127.0.0.2", "erik" if n % 2 else f"name{n}", f"wrong{n}"))
            for n in range(128)
        ]
        flood += [asyncio.create_task(site.login(f"127.0.1.{n}", "erik", f"wrong{n}")) for n in range(1, 21)]
        lane = site.handler.lane(STRANGERS)
        await _until(lambda: len(hashes.passwords) == 1 and sum(task.done() for task in flood) >= 128)
        # While one password is hashed nearly all have their answer, without a thread or a query.
        refused = [task.result() for task in flood if task.done()]
        assert {answer.status for answer in refused} <= {429, 503}
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
        assert lane.waiting <= 8
        person = asyncio.create_task(site.login("127.0.2.1", "erik", GOOD))
        await _until(lambda: any(one.client == "127.0.2.1" for one in lane._queue))  # type: ignore[attr-defined]  # the lane of strangers
        hashes.go.set()
        assert (await person).status == 302
        # Behind the one that is hashed and, at most, another network's first attempt.
        assert hashes.passwords.index(GOOD) <= 2
        await asyncio.gather(*flood)


async def test_who_is_known_has_a_lane_that_no_stranger_waits_in(erik: Any, hashes: Hashes) -> None:
    response = HttpResponse()
    known_devices.remember(response, "erik", None)
    cookie = f"{known_devices.COOKIE}={response.cookies[known_devices.COOKIE].value}"
    gate.known_sources.add("erik", "192.0.2.5")
    gate.known_sources.is_due()  # not to be read now
    async with _site() as site:
        flood = [asyncio.create_task(site.login(f"198.51.100.{n}", "erik", "wrong")) for n in range(40)]
        await _until(lambda: len(hashes.passwords) == 1)
        by_device = asyncio.create_task(site.login("203.0.113.1", "erik", GOOD, cookie))
        by_address = asyncio.create_task(site.login("192.0.2.5", "erik", GOOD))
        known = site.handler.lane(SIGN_IN)
        # One has the thread, the other waits; neither takes a place from strangers.
        await _until(lambda: known.waiting == 1)
        hashes.go.set()
        assert (await by_device).status == (await by_address).status == 302
        await asyncio.gather(*flood)
        # The first goes next; a stranger or two may be hashed before the second has left its queue.
        assert hashes.passwords[1] == GOOD and GOOD in hashes.passwords[2:6]
        # Signed by us, for another user: a stranger's.
        other = asyncio.create_task(site.login("203.0.113.9", "name", "wrong", cookie))
        assert (await other).status in (200, 503)


async def test_an_attempt_is_counted_once_however_it_is_sent(erik: Any, hashes: Hashes) -> None:
    hashes.go.set()
    part = '--x\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
    fields = {"username": "erik", "password": "wrong", "csrfmiddlewaretoken": CSRF}
    whole = "".join(part.format(name, value) for name, value in fields.items()) + "--x--\r\n"
    async with _site() as site:
        for n in range(OF_A_SOURCE.burst):
            # Without the failures of one user that axes counts.
            answer = await site.login("198.51.100.1", f"name{n}", "wrong")
            assert answer.status == 200, n
        refused = await site.login("198.51.100.1", "another", GOOD)
        assert refused.status == 429 and b"Try again later" in refused.body
        multipart = await site.post("198.51.100.1", whole.encode(), kind="multipart/form-data; boundary=x")
        assert multipart.status == 429
        unreadable = await site.post("198.51.100.2", b"\x00%ff=", kind="multipart/form-data; boundary=")
        assert unreadable.status in (400, 403, 200)
        no_text = await site.login("198.51.100.4", "erik", "wrong", query=b"\xff")
        assert no_text.status == 400
        large = await site.post("198.51.100.3", b"x" * 20_000)
        assert large.status == 413


async def test_a_right_password_costs_nobody_an_attempt(erik: Any, hashes: Hashes) -> None:
    hashes.go.set()
    async with _site() as site:
        for _ in range(OF_A_SOURCE.burst + 5):
            assert (await site.login("198.51.100.1", "erik", GOOD)).status == 302
            gate.known_sources.forget()
            gate.known_sources.is_due()
    assert gate._by_source.level("198.51.100.1") == 0
