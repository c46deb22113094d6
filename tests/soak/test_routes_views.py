"""1,000,000 routes by BGP while viewers ask for routes as fast as they can.

BGP updates go on being processed, zebra never hogs its CPU, one prefix is answered at once, and memory does
not grow with the table. ``MILLRACE_SOAK_ROUTES`` and ``MILLRACE_SOAK_SECONDS`` scale it.

    viewers --- agent on a Unix socket --- FRR, linux data plane  d0 --- BIRD
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import statistics
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from appliance.agent import peers
from appliance.agent.application import application
from appliance.agent.router import Router
from appliance.client import AgentClient
from appliance.dataplane.linux.backend import LinuxDataplane
from appliance.engine.engine import Engine
from appliance.errors import MillraceError
from appliance.routing.frr import FrrBackend
from appliance.state.routes import ROUTES as PART
from appliance.state.routes import RoutesQuery
from frr_config import FrrClient
from tests.integration.frr.conftest import configure
from tests.integration.frr.harness import FrrHarness, frr_installed, wait_until
from tests.requirements import require_root_netns
from tests.route_feed import LAST_MOVING, ROUTING, RouteFeed, prefix
from tests.unit.engine.toys import PATIENCE, Toy, compile_toy

pytestmark = [pytest.mark.root, pytest.mark.timeout(1800)]
ROUTES = int(os.environ.get("MILLRACE_SOAK_ROUTES", "1000000"))
SECONDS = float(os.environ.get("MILLRACE_SOAK_SECONDS", "60"))
VIEWERS = 4
LISTS: tuple[dict[str, Any], ...] = (
    {},
    {"protocol": "static"},
    {"protocol": "connected"},
    {"protocol": "bgp"},
    {"prefix": "16.0.0.0/8", "within": True},
    {"offset": 900_000},
)
_ANSWERED_S = 1.0
"""Within which one prefix is answered, median: the machine may compute much else, and zebra may walk."""


class Served:
    """The agent over real FRR and the kernel; its engine has toys to commit to."""

    def __init__(self, harness: FrrHarness, directory: Path) -> None:
        self.socket = directory / "agent.sock"
        self._plane = LinuxDataplane(harness.netns, harness.netns)
        self._routing = FrrBackend(harness.netns, harness.vty_dir, harness.config_dir)
        toys = (Toy("linux", "delete", "create"), Toy("frr", "withdraw", "announce"))
        self._engine = Engine(
            toys, compile_toy, self._plane.capabilities, directory, patience=PATIENCE, interval_s=60
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None

    def __enter__(self) -> Served:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(60)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        for part in (self._engine, self._routing, self._plane):
            part.close()

    async def _start(self) -> None:
        router = Router(self._engine, self._plane, self._routing, "nowhere")
        self._runner = web.AppRunner(application(router, frozenset()), access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        await web.SockSite(self._runner, peers.listening_socket(self.socket, None, frozenset())).start()

    async def _stop(self) -> None:
        assert self._runner is not None
        await self._runner.cleanup()


class Viewers:
    """Ask until they are told to stop; every second question is for one route."""

    def __init__(self, socket: Path) -> None:
        self._socket, self._stop = socket, threading.Event()
        self._threads = [threading.Thread(target=self._view, args=(seed,)) for seed in range(VIEWERS)]
        self.points_s: list[float] = []
        self.lists_s: list[float] = []
        self.wrong: list[str] = []

    def __enter__(self) -> Viewers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(120)

    def _view(self, seed: int) -> None:
        rng, client = random.Random(seed), AgentClient(self._socket)
        try:
            while not self._stop.is_set():
                begun_s = time.monotonic()
                answer = client.state(PART, RoutesQuery.model_validate(rng.choice(LISTS)))
                self.lists_s.append(time.monotonic() - begun_s)
                if not (answer.note or answer.total):
                    self.wrong.append(f"silently empty: {answer}")
                wanted, begun_s = prefix(rng.randrange(ROUTES)), time.monotonic()
                rows = client.state(PART, RoutesQuery(prefix=wanted)).routes
                self.points_s.append(time.monotonic() - begun_s)
                if not (len(rows) == 1 and rows[0].kernel and rows[0].consistent):
                    self.wrong.append(f"{wanted}: {rows}")
        except MillraceError as error:
            self.wrong.append(str(error))
        finally:
            client.close()


@pytest.fixture
def harness() -> Iterator[FrrHarness]:
    require_root_netns()
    if not (frr_installed() and RouteFeed.possible()):
        pytest.skip("FRRouting or BIRD is not installed (Debian packages frr, bird2)")
    name = f"sv{os.getpid() % 100000}"
    with FrrHarness(name, name) as running:
        yield running


def _moves(feed: RouteFeed, client: FrrClient, seconds: float) -> list[float]:
    """How long it took, each time, until zebra had the routes that came or had none that went."""
    took_s: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for move, there in ((feed.announce, True), (feed.withdraw, False)):
            begun_s = time.monotonic()
            move()
            wait_until(partial(_is_so, client, there), "a move", 60)
            took_s.append(time.monotonic() - begun_s)
    return took_s


def _is_so(client: FrrClient, there: bool) -> bool:
    return (client.rib_lookup(LAST_MOVING) is not None) is there


def _resident_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def test_viewers_of_a_full_table_disturb_nobody(harness: FrrHarness, tmp_path: Path) -> None:
    with RouteFeed(harness, f"{harness.netns}b", tmp_path, ROUTES) as feed:
        client = harness.client()
        configure(client, ROUTING)
        wait_until(lambda: client.rib_lookup(prefix(ROUTES - 1)) is not None, "the last route", 300)

        def filled() -> bool:
            time.sleep(2)
            return int(client.rib_summary().get("routesTotalFib", 0)) > ROUTES

        wait_until(filled, "all routes in the kernel", 300)
        alone = _moves(feed, client, 10)
        before_mb = _resident_mb()
        with Served(harness, tmp_path) as served, Viewers(served.socket) as viewers:
            watched = _moves(feed, client, SECONDS)
        grown_mb = _resident_mb() - before_mb
    log = (harness.vty_dir / "zebra.log").read_text(errors="replace")
    print(
        f"\n{ROUTES:,} routes, {VIEWERS} viewers, {SECONDS:.0f} s: {len(viewers.points_s)} prefixes, "
        f"median {statistics.median(viewers.points_s) * 1000:.1f} ms, max {max(viewers.points_s):.2f} s; "
        f"{len(viewers.lists_s)} lists, median {statistics.median(viewers.lists_s) * 1000:.1f} ms, "
        f"max {max(viewers.lists_s):.2f} s; 100 routes moved {len(watched)} times, "
        f"median {statistics.median(watched):.2f} s (alone {statistics.median(alone):.2f} s), "
        f"max {max(watched):.2f} s (alone {max(alone):.2f} s); the agent grew by {grown_mb} MB"
    )
    assert viewers.wrong == []
    assert not [line for line in log.splitlines() if "HOG" in line or "STARVATION" in line]
    assert statistics.median(viewers.points_s) < _ANSWERED_S
    assert statistics.median(watched) < statistics.median(alone) + 2.0
    assert grown_mb < 100
