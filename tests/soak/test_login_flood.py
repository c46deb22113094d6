"""128 guessers at one address and 20 at others, while the administrator logs in and packets are forwarded::

127.0.0.2 x 128 ---+
127.0.1.1-20 ------+--- web half          lan host === router === wan host, 2000 packets a second
127.0.0.1 admin ---+    an address of an earlier login
127.0.2.x admin ---+    each time an address that was never seen
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import re
import ssl
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from lab.traffic import Flow
from tests.live_lab import LiveLab, live_lab
from tests.requirements import require_root_netns, vpp_installed
from tests.soak import processes

SECONDS = float(os.environ.get("LOGIN_FLOOD_SECONDS", "30"))
CEILING_BYTES = 400 << 20
"""What the server may hold: half of the web half's ceiling on a router with 2 GB."""
LOGIN_S = 3.0
KNOWN, NEW = "an address of an earlier login", "a new address"
CSRF = "a" * 32


@pytest.fixture(scope="module")
def flooded() -> Iterator[LiveLab]:
    require_root_netns()
    with live_lab("fl", "vpp" if vpp_installed() else "linux") as lab:
        yield lab


@dataclass
class Seen:
    """What came back."""

    statuses: Counter[int] = field(default_factory=Counter)
    errors: int = 0
    logins_s: dict[str, list[float]] = field(default_factory=dict)
    """How long each right login took, by where it came from."""
    most_bytes: int = 0


def _client(live: LiveLab, address: str) -> httpx.AsyncClient:
    context = ssl.create_default_context(cafile=live.environment["CA_FILE"])
    transport = httpx.AsyncHTTPTransport(verify=context, local_address=address)
    return httpx.AsyncClient(base_url=live.base_url, transport=transport, timeout=30)


async def _post(http: httpx.AsyncClient, username: str, password: str) -> int:
    http.cookies.set("csrftoken", CSRF)
    form = {"username": username, "password": password, "csrfmiddlewaretoken": CSRF}
    answer = await http.post("/login", data=form, headers={"Referer": f"{http.base_url}/login"})
    return answer.status_code


async def _guess(live: LiveLab, address: str, number: int, until: float, seen: Seen) -> None:
    async with _client(live, address) as http:
        count = 0
        while time.monotonic() < until:
            count += 1
            try:
                seen.statuses[await _post(http, f"name{number}" if count % 2 else "admin", f"x{count}")] += 1
            except httpx.HTTPError:
                seen.errors += 1


def _administrator(environment: dict[str, str], address: str, seconds: float) -> list[tuple[int, float]]:
    """Sign in with a new browser every second: status and duration of each. In a process of its own, as the
    guessers keep the one they run in busy. `address` may have a place for a number."""
    context = ssl.create_default_context(cafile=environment["CA_FILE"])
    until, answers = time.monotonic() + seconds, list[tuple[int, float]]()
    while time.monotonic() < until:
        time.sleep(1)
        transport = httpx.HTTPTransport(verify=context, local_address=address.format(len(answers) + 1))
        with httpx.Client(base_url=environment["BASE_URL"], transport=transport, timeout=30) as http:
            http.cookies.set("csrftoken", CSRF)
            form = {"username": environment["USERNAME"], "password": environment["PASSWORD"]}
            began = time.monotonic()
            answer = http.post(
                "/login",
                data={**form, "csrfmiddlewaretoken": CSRF},
                headers={"Referer": f"{http.base_url}/login"},
            )
            answers.append((answer.status_code, time.monotonic() - began))
    return answers


async def _administrators(live: LiveLab, seen: Seen) -> None:
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        asked = {
            where: loop.run_in_executor(processes, _administrator, live.environment, address, SECONDS)
            for where, address in ((KNOWN, "127.0.0.1"), (NEW, "127.0.2.{}"))
        }
        for where, answers in asked.items():
            for status, took_s in await answers:
                assert status == 302, f"the right login from {where} was answered {status}"
                seen.logins_s.setdefault(where, []).append(took_s)


async def _watch(pid: int, until: float, seen: Seen) -> None:
    while time.monotonic() < until:
        seen.most_bytes = max(seen.most_bytes, _rss(pid))
        await asyncio.sleep(0.1)


async def _flood(live: LiveLab, pid: int, seen: Seen) -> None:
    until = time.monotonic() + SECONDS
    guessers = [("127.0.0.2", number) for number in range(128)]
    guessers += [(f"127.0.1.{number}", 200 + number) for number in range(1, 21)]
    async with asyncio.TaskGroup() as group:
        group.create_task(_watch(pid, until, seen))
        group.create_task(_administrators(live, seen))
        for address, number in guessers:
            group.create_task(_guess(live, address, number, until, seen))


def _rss(pid: int) -> int:
    found = re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


def test_a_right_login_gets_in_and_nothing_is_lost(flooded: LiveLab) -> None:
    live, seen = flooded, Seen()
    names = live.topology.namespaces
    pid = processes.programs(live)["web-server"]

    async def first() -> int:
        async with _client(live, "127.0.0.1") as http:
            return await _post(http, live.environment["USERNAME"], live.environment["PASSWORD"])

    assert asyncio.run(first()) == 302
    before = _rss(pid)
    with Flow(
        live.directory,
        sender=names.lan,
        receiver=names.wan_host,
        destination="203.0.113.10",
        pps=2000,
        seconds=SECONDS + 30,
        port=7111,
    ) as flow:
        asyncio.run(_flood(live, pid, seen))
        result = flow.stop()
    print(
        f"\n{live.dataplane}: {sum(seen.statuses.values())} guesses in {SECONDS:g} s: {dict(seen.statuses)}, "
        f"{seen.errors} without an answer; "
        f"web {before >> 20} MiB before, {seen.most_bytes >> 20} MiB at most; "
        + "".join(
            f"{len(took_s)} right logins from {where}, the slowest {max(took_s):.2f} s; "
            for where, took_s in seen.logins_s.items()
        )
        + f"{result.sent} packets sent, {result.lost} lost"
    )
    assert seen.statuses.keys() <= {200, 401, 403, 429, 503}, seen.statuses
    assert seen.logins_s.keys() == {KNOWN, NEW}
    assert all(max(took_s) <= LOGIN_S for took_s in seen.logins_s.values())
    assert seen.most_bytes <= CEILING_BYTES
    assert result.lost == 0
    assert pid == processes.programs(live)["web-server"], "the web process was restarted"
