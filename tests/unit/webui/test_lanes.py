"""Lanes: bounded, first come, first served, nobody takes all the places, and a change is never kept out."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from webui.http import busy
from webui.http.lane_choice import SIZES, lane_of
from webui.http.lanes import Lane, LaneFull, LaneSize


class _Held:
    """Work that continues until it is released."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun: list[str] = []

    def __call__(self, name: str = "") -> str:
        self.begun.append(name)
        assert self.go.wait(20)
        return name


@asynccontextmanager
async def _full(lane: Lane, client: str = "a") -> AsyncIterator[tuple[_Held, list[asyncio.Task[str]]]]:
    """The lane with all its threads at work and all places of `client` taken."""
    held = _Held()
    tasks = []
    for number in range(lane.size.threads + max(1, int(lane.size.waiting * 0.75))):
        tasks.append(asyncio.create_task(lane.run(client, lambda number=number: held(str(number)))))  # type: ignore[misc]  # mypy cannot type the default
    while len(held.begun) < lane.size.threads or lane.waiting + lane.size.threads < len(tasks):
        await asyncio.sleep(0.01)
    try:
        yield held, tasks
    finally:
        held.go.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        lane.close()


async def test_the_newest_is_refused_at_once_and_the_others_are_served_in_order() -> None:
    lane = Lane("x", LaneSize(threads=1, waiting=4))
    async with _full(lane) as (held, tasks):
        with pytest.raises(LaneFull):
            await lane.run("a", held)
        held.go.set()
        assert await asyncio.gather(*tasks) == ["0", "1", "2", "3"]
        assert held.begun == ["0", "1", "2", "3"] and lane.waiting == 0
        assert await lane.run("a", lambda: "served again") == "served again"


async def test_one_client_leaves_places_to_others() -> None:
    lane = Lane("x", LaneSize(threads=1, waiting=4))
    async with _full(lane, "a") as (held, _):
        with pytest.raises(LaneFull):
            await lane.run("a", held)
        other = asyncio.create_task(lane.run("b", lambda: "b"))
        await asyncio.sleep(0)
        with pytest.raises(LaneFull):
            await lane.run("c", held)  # now all four places are taken
        held.go.set()
        assert await other == "b"


async def test_nobody_waits_for_ever() -> None:
    lane = Lane("x", LaneSize(threads=1, waiting=4), longest_wait_s=0.05)
    held = _Held()
    first = asyncio.create_task(lane.run("a", held))
    while not held.begun:
        await asyncio.sleep(0.01)
    with pytest.raises(LaneFull):
        await lane.run("a", lambda: "never begun")
    assert lane.waiting == 0
    held.go.set()
    await first
    lane.close()


async def test_a_caller_who_leaves_keeps_the_thread_taken_until_its_work_is_done() -> None:
    lane = Lane("x", LaneSize(threads=1, waiting=1), longest_wait_s=0.05)
    held = _Held()
    first = asyncio.create_task(lane.run("a", held))
    while not held.begun:
        await asyncio.sleep(0.01)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    with pytest.raises(LaneFull):
        await lane.run("a", lambda: "too early")
    held.go.set()
    while not lane.idle:
        await asyncio.sleep(0.01)
    assert await lane.run("a", lambda: "now") == "now"
    lane.close()


async def test_strangers_leave_a_thread_and_half_the_places_to_users_who_go_first() -> None:
    lane = Lane("x", LaneSize(threads=2, waiting=8))
    held = _Held()

    def ask(client: str, stranger: bool) -> asyncio.Task[str]:
        return asyncio.create_task(lane.run(client, lambda: held(client), stranger=stranger))

    strangers = [ask(f"s{number}", True) for number in range(5)]
    while not held.begun or lane.waiting < 4:
        await asyncio.sleep(0.01)
    assert (len(held.begun), lane.idle) == (1, 1), "one thread is left to users"
    with pytest.raises(LaneFull):
        await lane.run("s9", held, stranger=True)
    assert await lane.run("user", lambda: "at once") == "at once"
    users = [ask(f"u{number}", False) for number in range(3)]
    while lane.waiting < 6:
        await asyncio.sleep(0.01)
    held.go.set()
    await asyncio.gather(*strangers, *users)
    # The first of each began at once; then all the users, before any stranger.
    assert held.begun[:2] == ["s0", "u0"] and set(held.begun[2:4]) == {"u1", "u2"}, held.begun
    lane.close()


async def test_who_gives_up_just_as_its_turn_comes_takes_no_thread_along() -> None:
    lane = Lane("x", LaneSize(threads=1, waiting=4))
    held = _Held()
    first = asyncio.create_task(lane.run("a", held))
    while not held.begun:
        await asyncio.sleep(0.01)
    second = asyncio.create_task(lane.run("b", lambda: "never"))
    await asyncio.sleep(0)
    held.go.set()
    while not lane.idle and lane.waiting:
        await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    while not lane.idle:
        await asyncio.sleep(0.01)
    assert (lane.idle, lane.waiting) == (1, 0)
    lane.close()


@pytest.mark.parametrize(
    ("method", "path", "lane"),
    [
        ("GET", "/api/v1/state/bgp", "read"),
        ("GET", "/", "read"),
        ("GET", "/metrics", "read"),
        ("GET", "/api/v1/counters/stream", "read"),
        ("GET", "/api/v1/status", "status"),
        ("GET", "/api/v1/state/health", "status"),
        ("GET", "/status", "status"),
        ("POST", "/api/v1/confirm", "decide"),
        ("POST", "/api/v1/changes/3/confirm", "decide"),
        ("POST", "/api/v1/keep", "decide"),
        ("POST", "/changes/keep", "decide"),
        ("POST", "/api/v1/commits/abc/cancel", "decide"),
        ("POST", "/changes/cancel/abc", "decide"),
        ("POST", "/changes/finished/abc", "decide"),
        ("GET", "/api/v1/commits", "decide"),
        ("PUT", "/api/v1/config/routing/policy/route_maps/keep", "change"),
        ("POST", "/api/v1/rollback", "change"),
        ("POST", "/api/v1/changes/3/commit", "change"),
        ("PUT", "/api/v1/config/system/hostname", "change"),
        ("POST", "/changes/confirm", "decide"),
        ("GET", "/api/v1/commits/abc", "decide"),
        ("POST", "/login", "sign-in"),
        ("GET", "/login", "read"),
        ("GET", "/static/ui/css/tokens.css", "file"),
    ],
)
def test_what_reads_never_takes_the_lane_of_what_changes(method: str, path: str, lane: str) -> None:
    assert lane_of(method, path) == lane


def test_all_threads_together_fit_into_the_image_s_database() -> None:
    from appliance.platform import cluster

    (limit,) = (
        int(line.split("=")[1]) for line in cluster.CONF.splitlines() if line.startswith("max_connections")
    )
    # Three are PostgreSQL's own, and worker, beat and commands take a few.
    assert sum(size.threads for size in SIZES.values()) <= limit - 3 - 10


async def _refused(method: str, path: str, *headers: tuple[bytes, bytes]) -> tuple[dict[bytes, bytes], bytes]:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await busy.refuse({"method": method, "path": path, "headers": list(headers)}, send)
    assert sent[0]["status"] == 503
    return dict(sent[0]["headers"]), sent[1]["body"]


async def test_a_refusal_is_a_problem_document_or_a_page_that_says_what_happens_next() -> None:
    headers, body = await _refused("GET", "/api/v1/state/bgp")
    assert headers[b"retry-after"] == b"1" and headers[b"content-type"] == b"application/problem+json"
    assert json.loads(body)["status"] == 503 and "again" in json.loads(body)["detail"]
    headers, body = await _refused("GET", "/interfaces")
    assert headers[b"content-type"].startswith(b"text/html") and b'http-equiv="refresh"' in body
    _, body = await _refused("POST", "/changes/commit")
    assert b'http-equiv="refresh"' not in body and b"was not carried out" in body
    headers, _ = await _refused("GET", "/dashboard/state", (b"hx-request", b"true"))
    assert headers[b"content-type"] == b"application/problem+json"
