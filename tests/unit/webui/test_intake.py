"""Bodies under way: few places and little time for strangers, and nobody keeps a sign-in or a user out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from webui.http.callers import GOOD_S, Caller, Callers
from webui.http.intake import Intake, IntakeSize

LONG_S = 3600.0
SIZE = IntakeSize(places=4, of_one=2, part_s=LONG_S, whole_s=LONG_S)
TOKEN = "mr_token"


class Site:
    """An application that reads whole bodies, behind the intake; each request is sent by hand."""

    def __init__(self, strangers: IntakeSize = SIZE, users: IntakeSize = SIZE) -> None:
        self.callers = Callers()
        self.read: list[str] = []
        self.intake = Intake(self._application, self.callers.of, strangers, users)

    async def _application(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        self.read.append(scope["client"][0])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


class Sending:
    """One request, whose parts come when told."""

    def __init__(self, site: Site, address: str, token: str = "", declared: bytes = b"9") -> None:
        self._parts: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []
        headers = [(b"content-length", declared)]
        if token:
            headers.append((b"authorization", f"Bearer {token}".encode()))
        self.scope = {"type": "http", "path": "/", "client": (address, 1), "headers": headers}

        async def send(message: dict[str, Any]) -> None:
            self.sent.append(message)

        self.task = asyncio.create_task(site.intake(self.scope, self._parts.get, send))

    def part(self, last: bool = False) -> None:
        """The next part of the body."""
        self._parts.put_nowait({"type": "http.request", "body": b"x", "more_body": not last})

    async def status(self) -> int:
        """The status of the answer."""
        await asyncio.wait_for(self.task, 20)
        return int(self.sent[0]["status"])


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0)


async def test_one_source_has_few_places_and_its_64_is_one_source() -> None:
    site = Site()
    kept = [Sending(site, f"2001:db8:0:1::{number}") for number in range(2)]
    await _until(lambda: site.intake.under_way(False) == 2)
    refused = Sending(site, "2001:db8:0:1:ffff::9")
    assert await refused.status() == 503
    head = dict(refused.sent[0]["headers"])
    # What is left of the body may still come on this connection.
    assert head[b"connection"] == b"close" and head[b"retry-after"] == b"1"
    other = Sending(site, "2001:db8:0:2::1")
    other.part(last=True)
    assert await other.status() == 200
    for one in kept:
        one.part()
        one.part(last=True)
        assert await one.status() == 200
    assert site.intake.under_way(False) == 0


async def test_with_all_places_taken_the_oldest_of_who_holds_most_gives_way() -> None:
    site = Site()
    lone = Sending(site, "192.0.2.1")
    await _until(lambda: site.intake.under_way(False) == 1)
    crowd = [Sending(site, address) for address in ("192.0.2.2", "192.0.2.2", "192.0.2.3")]
    await _until(lambda: site.intake.under_way(False) == 4)
    form = Sending(site, "192.0.2.4")
    form.part(last=True)
    assert await form.status() == 200
    assert await crowd[0].status() == 503 and json.loads(crowd[0].sent[1]["body"])["status"] == 503
    assert not any(one.task.done() for one in (lone, *crowd[1:]))
    for one in (lone, *crowd[1:]):
        one.task.cancel()
    await asyncio.gather(lone.task, *(one.task for one in crowd[1:]), return_exceptions=True)
    assert site.intake.under_way(False) == 0


async def test_a_body_displaced_between_two_parts_is_read_no_further() -> None:
    site = Site(strangers=IntakeSize(1, 1, LONG_S, LONG_S))
    slow = Sending(site, "192.0.2.1")
    await _until(lambda: site.intake.under_way(False) == 1)
    slow.part()
    form = Sending(site, "192.0.2.2")
    form.part(last=True)
    slow.part()
    assert await form.status() == 200 and await slow.status() == 503
    assert site.read == ["192.0.2.2"]


async def test_strangers_take_no_place_of_a_user_nor_one_user_all_of_them() -> None:
    site = Site()
    site.callers.remember(TOKEN, 1)
    site.callers.remember("other", 2)
    crowd = [Sending(site, f"192.0.2.{number}") for number in range(20)]
    await _until(lambda: site.intake.under_way(False) == 4)
    kept = [Sending(site, "192.0.2.1", TOKEN) for _ in range(2)]
    await _until(lambda: site.intake.under_way(True) == 2)
    assert await Sending(site, "198.51.100.1", TOKEN).status() == 503
    confirm = Sending(site, "192.0.2.1", "other")
    confirm.part(last=True)
    assert await confirm.status() == 200
    for one in (*crowd, *kept):
        one.task.cancel()
    await asyncio.gather(*(one.task for one in (*crowd, *kept)), return_exceptions=True)


@pytest.mark.parametrize("size", [IntakeSize(4, 2, 0.0, LONG_S), IntakeSize(4, 2, LONG_S, 0.0)])
async def test_a_body_that_does_not_come_is_408(size: IntakeSize) -> None:
    site = Site(strangers=size)
    late = Sending(site, "192.0.2.1")
    assert await late.status() == 408 and not site.read
    assert dict(late.sent[0]["headers"])[b"connection"] == b"close"
    assert site.intake.under_way(False) == 0


async def test_a_request_without_a_body_takes_no_place() -> None:
    site = Site(strangers=IntakeSize(0, 0, 0.0, 0.0))
    asked = Sending(site, "192.0.2.1", declared=b"0")
    asked.part(last=True)
    assert await asked.status() == 200


def _caller(callers: Callers, *headers: tuple[bytes, bytes]) -> Caller:
    return callers.of({"client": ("2001:db8::5", 1), "headers": list(headers)})


def test_a_credential_counts_from_its_use_until_it_is_idle_or_lets_nobody_in() -> None:
    now = [0.0]
    callers = Callers(lambda: now[0], most=2)
    bearer, cookie = (b"authorization", b"bearer  t1 "), (b"cookie", b"a=b; sessionid=s1; c=d")
    stranger = Caller("2001:db8::", False, "2001:db8::")
    assert _caller(callers, bearer, cookie) == stranger
    callers.remember("t1", 7)
    callers.remember("s1", 8)
    assert _caller(callers, bearer) == Caller("user 7", True, "2001:db8::")
    assert _caller(callers, cookie) == Caller("user 8", True, "2001:db8::")
    callers.forget("t1")
    assert _caller(callers, bearer) == stranger
    now[0] = GOOD_S
    assert _caller(callers, cookie) == stranger
    for number in range(3):
        callers.remember(f"s{number}", 9)
    known = [_caller(callers, (b"cookie", b"sessionid=s%d" % number)).known for number in range(3)]
    assert known == [False, True, True], "no more than two are remembered"


def test_a_made_up_credential_is_a_stranger_s() -> None:
    callers = Callers()
    callers.remember(TOKEN, 1)
    for value in (b"Basic bXI6dG9rZW4=", b"Bearer", b"Bearer \xff\xfe", b"Bearer mr_tokem"):
        assert not _caller(callers, (b"authorization", value)).known
    assert not _caller(callers, (b"cookie", b"sessionid=; =;;" + b"x" * 9000)).known
