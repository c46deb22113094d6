"""Many small commits of a large document: the disk they take is bounded, and none is slower for those before.

``MILLRACE_ROUNDS`` (20000) commits of one line at ``MILLRACE_SOAK_ROUTES`` (5000) routes, random by
``MILLRACE_SEED``: on the engine alone (``toy``), and on a real data plane with FRR. The engine is told that
one comes a second, so that what it keeps by the hour is kept as it would be.
"""

from __future__ import annotations

import gc
import logging
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from appliance.agent.garbage import collect_seldom
from appliance.engine.engine import Engine
from tests.real_router import real_routers
from tests.requirements import require_root_netns, require_vpp
from tests.soak import processes
from tests.soak.options import options
from tests.unit.engine.toys import ToyClock, commit, document, router

pytestmark = [pytest.mark.soak, pytest.mark.timeout(0)]

_COMMITS = 20_000
_ROUTES = int(os.environ.get("MILLRACE_SOAK_ROUTES", "") or 5000)
_LARGEST_BYTES = 160 << 20
"""The quotas of revisions and results, and what they may be over before the next look."""
_SLOWER = 1.2
_BESIDE = 500
_MORE_RSS_BYTES = 32 << 20
_MORE_DESCRIPTORS = 8
_REAL = [
    pytest.param(name, marks=[pytest.mark.root, *([pytest.mark.vpp] if name == "vpp" else [])])
    for name in options().dataplanes
]


def _disk_bytes(folder: Path) -> int:
    used = 0
    for path in folder.rglob("*"):
        # What is kept no longer goes by itself, also while it is counted here.
        with suppress(FileNotFoundError):
            used += path.lstat().st_blocks * 512
    return used


def _one_line(wanted: dict[str, Any], chance: random.Random) -> None:
    """Another next hop for one route."""
    static: dict[str, Any] = wanted["routing"]["static"]
    name = chance.choice(list(static))
    static[name] = {"next_hops": [{"address": f"192.0.2.{chance.randint(2, 250)}"}]}


def _percentiles_ms(took_s: list[float]) -> tuple[float, float]:
    """p50 and p95."""
    cuts = statistics.quantiles(took_s, n=20)
    return cuts[9] * 1000, cuts[18] * 1000


@contextmanager
def _engines(plane: str, directory: Path, clock: ToyClock) -> Iterator[tuple[Callable[[], Engine], Path]]:
    """Makes engines of one router, one after another; and the folder of their state."""
    if plane == "toy":
        toy = router(directory / "state")
        toy.clock = clock
        yield toy.engine, toy.directory
        return
    require_root_netns()
    if plane == "vpp":
        require_vpp()
    with real_routers(plane, directory) as make:
        real = make(directory / "state")
        yield partial(real.engine, clock=clock), real.state_dir


def _wanted(plane: str) -> dict[str, Any]:
    """Static routes by a network that the router is on."""
    wanted = document(*(f"10.{number >> 8 & 255}.{number & 255}.0/24" for number in range(_ROUTES)))
    if plane != "toy":
        match = {"device": "nic0"}
        wanted["interfaces"] = {"lan0": {"type": "ethernet", "match": match, "addresses": ["192.0.2.1/24"]}}
    return wanted


@pytest.mark.parametrize("plane", ["toy", *_REAL])
def test_history_stays_within_its_quota(plane: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Disk, time of a commit, memory and descriptors of the engine, from the first tenth to the last."""
    # pytest keeps every record until the test ends, and would itself be what grows.
    caplog.set_level(logging.WARNING, "appliance")
    as_before = gc.get_threshold()
    # As the agent: else every twelfth commit pays for a look at all that pytest has imported.
    collect_seldom()
    try:
        _commit_and_measure(plane, tmp_path)
    finally:
        gc.set_threshold(*as_before)
        gc.unfreeze()


def _commit_and_measure(plane: str, tmp_path: Path) -> None:
    asked, clock = options(_COMMITS), ToyClock()
    chance, commits = random.Random(asked.seed), len(asked.rounds)
    share = max(commits // 10, 20)
    with _engines(plane, tmp_path, clock) as (made, folder):
        engine = made()
        engine.recover()
        wanted = _wanted(plane)
        commit(engine, wanted)
        before, took_s, largest = _held(), list[float](), 0
        for number in range(commits):
            _one_line(wanted, chance)
            took_s.append(_timed_s(engine, wanted))
            clock.wait(1)
            if number == share:
                before = _held()
            if number % 100 == 0:
                largest = max(largest, _disk_bytes(folder))
        after, used = _held(), _disk_bytes(folder)
        largest = max(largest, used)
        first, last = _percentiles_ms(took_s[:share]), _percentiles_ms(took_s[-share:])
        written = engine.storage()
        print(
            f"\n{plane}, MILLRACE_SEED={asked.seed}: {commits} commits of one line at {_ROUTES} routes; "
            f"disk {used >> 10} KiB, at most {largest >> 10} KiB, {written}; "
            f"p50 {first[0]:.0f} then {last[0]:.0f} ms, p95 {first[1]:.0f} then {last[1]:.0f} ms; "
            f"RSS {before.rss_bytes >> 20} then {after.rss_bytes >> 20} MiB, "
            f"descriptors {before.descriptors} then {after.descriptors}",
            flush=True,
        )
        if plane == "toy":
            # What else the machine does now is no part of it: one without history commits in turns.
            first, last = _beside_a_new_one(engine, wanted, chance, clock, tmp_path / "new")
            print(
                f"beside one without history: p50 {first[0]:.0f} and {last[0]:.0f} ms, "
                f"p95 {first[1]:.0f} and {last[1]:.0f} ms",
                flush=True,
            )
        assert largest <= _LARGEST_BYTES
        assert after.rss_bytes <= before.rss_bytes + _MORE_RSS_BYTES
        assert after.descriptors <= before.descriptors + _MORE_DESCRIPTORS
        assert last[1] <= first[1] * _SLOWER
        engine.close()
        again = made()
        again.recover()
        assert (again.config(), again.damage()) == (engine.config(), [])
        again.close()


def _timed_s(engine: Engine, wanted: dict[str, Any]) -> float:
    begun_s = time.monotonic()
    commit(engine, wanted)
    return time.monotonic() - begun_s


def _beside_a_new_one(
    engine: Engine, wanted: dict[str, Any], chance: random.Random, clock: ToyClock, folder: Path
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Percentiles of the same commits on a new engine and on this one, in milliseconds, in turns."""
    toy = router(folder)
    toy.clock = clock
    new = toy.engine()
    new.recover()
    commit(new, wanted)
    took_s: dict[Engine, list[float]] = {new: [], engine: []}
    for number in range(_BESIDE):
        _one_line(wanted, chance)
        for one in (new, engine) if number % 2 else (engine, new):
            took_s[one].append(_timed_s(one, wanted))
        clock.wait(1)
    new.close()
    return _percentiles_ms(took_s[new]), _percentiles_ms(took_s[engine])


def _held() -> processes.Held:
    held = processes.held(os.getpid())
    assert held is not None
    return held
