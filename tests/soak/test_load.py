"""The API of a whole lab under load: 100 streams and 200 reads a second, then 1,000 a second, then none.

``MILLRACE_LOAD_S`` is the length of the first part in seconds (60). The generator shares the machine with
what it loads: whatever else runs there is in the numbers, too.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

import aiohttp
import httpx
import pytest

from tests.live_lab import LiveLab, json_of, live_lab
from tests.requirements import needs_root_netns

SECONDS = float(os.environ.get("MILLRACE_LOAD_S", "60"))
STREAMS, STEADY_PS, FLOOD_PS, FLOOD_S = 100, 200, 1000, 10.0
P95_S, REFUSED_P95_S, BACK_TO_NORMAL_S = 0.25, 1.0, 2.0
PATHS = ("status", "state/interfaces", "state/bgp", "counters", "revisions?limit=20")
# One token may ask 3,000 times a minute.
TOKENS = 20
_STREAM = "counters/stream?fields=rx_bytes,tx_bytes&interfaces=lan0,wan0"

pytestmark = [needs_root_netns]


@pytest.fixture(scope="module")
def lab() -> Iterator[LiveLab]:
    with live_lab("ld", "linux", "postgres") as running:
        yield running


@dataclass
class Answers:
    """What came back: status and seconds of each request, by when it was due."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)
    without_retry_after: int = 0

    def p95_s(self, *statuses: int) -> float:
        """Of the answers with these statuses; 0 without any."""
        found = sorted(one for status in statuses for one in self.seconds.get(status, ()))
        return found[int(len(found) * 0.95)] if found else 0.0

    def __str__(self) -> str:
        shown = [
            f"{status}: {len(found)} (median {statistics.median(found) * 1000:.0f} ms,"
            f" p95 {self.p95_s(status) * 1000:.0f} ms, longest {max(found) * 1000:.0f} ms)"
            for status, found in sorted(self.seconds.items())
        ]
        return ", ".join([*shown, *(f"{name}: {count}" for name, count in self.broken.items())])


class Generator:
    """Requests at a steady rate, whether earlier ones were answered or not."""

    def __init__(self, lab: LiveLab, session: aiohttp.ClientSession, tokens: list[str]) -> None:
        self._base, self._session = f"{lab.base_url}/api/v1/", session
        self._headers = [{"Authorization": f"Bearer {token}"} for token in tokens]

    async def run(self, per_second: int, seconds: float) -> Answers:
        """Ask for so long; wait for the last answer."""
        answers, asked = Answers(), set()
        start = time.perf_counter()
        for number in range(int(per_second * seconds)):
            late_s = start + number / per_second - time.perf_counter()
            if late_s > 0:
                await asyncio.sleep(late_s)
            task = asyncio.create_task(self._ask(number, answers))
            asked.add(task)
            task.add_done_callback(asked.discard)
        await asyncio.gather(*asked)
        return answers

    async def _ask(self, number: int, answers: Answers) -> None:
        begun = time.perf_counter()
        headers = self._headers[number % len(self._headers)]
        try:
            async with self._session.get(self._base + PATHS[number % len(PATHS)], headers=headers) as answer:
                await answer.read()
                answers.without_retry_after += answer.status == 503 and "Retry-After" not in answer.headers
                answers.seconds.setdefault(answer.status, []).append(time.perf_counter() - begun)
        except (aiohttp.ClientError, TimeoutError) as error:
            answers.broken[type(error).__name__] += 1

    async def listen(self, number: int, times: list[float], other: Counter[str]) -> None:
        """Note when each sample of a stream was taken, and every other event, until cancelled."""
        headers = self._headers[number % len(self._headers)]
        while True:
            async with self._session.get(self._base + _STREAM, headers=headers) as answer:
                if answer.status == 200:
                    await self._read(answer, times, other)
                    raise AssertionError("the stream ended")
                # A hundred that open at once are more than may wait: as a browser does, come again.
                assert answer.status == 503 and not times, await answer.text()
                await asyncio.sleep(float(answer.headers["Retry-After"]))

    @staticmethod
    async def _read(answer: aiohttp.ClientResponse, times: list[float], other: Counter[str]) -> None:
        event = ""
        async for line in answer.content:
            if line.startswith(b"event: "):
                event = line[7:].decode().strip()
            elif line.startswith(b"data: "):
                if event == "sample":
                    times.append(float(json.loads(line[6:])["time"]))
                else:
                    other[event] += 1


def _tokens(lab: LiveLab) -> list[str]:
    """Made by who signed in: a token makes none."""
    context = ssl.create_default_context(cafile=lab.environment["CA_FILE"])
    csrf = "c" * 32
    with httpx.Client(base_url=lab.base_url, verify=context, headers={"Referer": f"{lab.base_url}/"}) as http:
        http.cookies.set("csrftoken", csrf)
        form = {"username": lab.environment["USERNAME"], "password": lab.environment["PASSWORD"]}
        http.post("/login", data={**form, "csrfmiddlewaretoken": csrf})
        http.headers["X-CSRFToken"] = [one.value for one in http.cookies.jar if one.name == "csrftoken"][
            -1
        ] or csrf
        made = [
            http.post("/api/v1/tokens", json={"name": f"load {number}", "write": number == 0})
            for number in range(TOKENS)
        ]
    return [json_of(one, status=201)["token"] for one in made]


async def test_streams_and_reads_then_a_flood_then_normal_again(lab: LiveLab) -> None:
    tokens = await asyncio.to_thread(_tokens, lab)
    context = ssl.create_default_context(cafile=lab.environment["CA_FILE"])
    connector = aiohttp.TCPConnector(ssl=context, limit=0)
    timeout = aiohttp.ClientTimeout(total=None, sock_read=60)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        generator = Generator(lab, session, tokens)
        taken: list[list[float]] = [[] for _ in range(STREAMS)]
        other: Counter[str] = Counter()
        streams = [
            asyncio.create_task(generator.listen(number, times, other)) for number, times in enumerate(taken)
        ]
        async with asyncio.timeout(60):
            while not all(taken):
                await asyncio.sleep(0.1)
                assert not any(stream.done() for stream in streams)
        await generator.run(50, 3)  # connections are made, caches warm

        first = [len(times) for times in taken]
        steady = await generator.run(STEADY_PS, SECONDS)
        print(f"\n{STREAMS} streams and {STEADY_PS} reads a second for {SECONDS:g} s: {steady}")
        samples = [times[before:] for times, before in zip(taken, first, strict=True)]
        gaps = [later - sooner for times in samples for sooner, later in pairwise(times)]
        fewest, longest_s = min(len(times) for times in samples), max(gaps)
        print(f"samples a stream: {fewest} at least, {longest_s:.2f} s apart at most; others: {dict(other)}")

        flood = asyncio.create_task(generator.run(FLOOD_PS, FLOOD_S))
        await asyncio.sleep(FLOOD_S / 2)
        begun = time.perf_counter()
        headers = {"Authorization": f"Bearer {tokens[0]}"}
        base = f"{lab.base_url}/api/v1"
        url = f"{base}/config/system/hostname?confirm_s=60"
        async with session.put(url, json="flood", headers=headers) as answer:
            assert answer.status == 200, await answer.text()
        async with session.post(f"{base}/confirm", headers=headers) as answer:
            assert answer.status == 204, await answer.text()
        print(f"commit and confirm within the flood: {time.perf_counter() - begun:.2f} s")
        flooded = await flood
        print(f"{FLOOD_PS} reads a second for {FLOOD_S:g} s: {flooded}")

        await asyncio.sleep(BACK_TO_NORMAL_S)
        after = await generator.run(20, 3)
        print(f"{BACK_TO_NORMAL_S:g} s later: {after}")
        for stream in streams:
            stream.cancel()
            with suppress(asyncio.CancelledError):
                await stream

    assert set(steady.seconds) == {200} and not steady.broken
    assert steady.p95_s(200) <= P95_S
    assert not other and longest_s < 2.0 and fewest >= SECONDS - 1
    assert set(flooded.seconds) <= {200, 503} and not flooded.broken and flooded.seconds[200]
    assert not flooded.without_retry_after
    assert flooded.p95_s(503) <= REFUSED_P95_S
    assert set(after.seconds) == {200} and after.p95_s(200) <= P95_S
