"""Pages and the API while VPP is saturated, and while it is idle, in turn in one run.

VPP's own packet generator gives its worker as many packets as it takes, and a route to nowhere drops them:
the worker never rests, as on a router that gets more than it can forward, and no sender takes a CPU from the
web half. Goal (two cores): p95 saturated / idle <= 2. MILLRACE_BENCH_ROUNDS says how many requests of each
kind there are in a turn (100). MILLRACE_BENCH_WORKERS=0 leaves VPP without a worker: one that waits for its
CPU for a second, on a machine that has much else to do, makes VPP end itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from lab.leftovers import marked_processes
from lab.supervision import Supervisor
from tests.bench.by_rest import one_line, signed_in, times_ms, wait_up
from tests.bench.figures import Goal, told
from tests.live_lab import LiveLab, json_of, live_lab, patch, wait_until
from tests.requirements import require_root_netns, require_vpp

pytestmark = [pytest.mark.vpp, pytest.mark.root, pytest.mark.timeout(1800)]

_WORKERS = int(os.environ.get("MILLRACE_BENCH_WORKERS", "1"))
_TURNS = 2
_READS = ("status", "state/interfaces", "state/bgp", "counters")
_SATURATED = 0.8
"""Share of the time that the worker has its CPU."""
_TO, _FROM = "198.51.100.10", "198.51.100.9"


@pytest.fixture(scope="module")
def live() -> Iterator[LiveLab]:
    """A lab whose VPP has a worker where there are CPUs for it, and a route that drops."""
    require_root_netns()
    require_vpp()
    before = os.sched_getaffinity(0)
    with live_lab("bs", "vpp") as lab:
        patch(lab, {"routing": {"static": {f"{_TO}/32": {"blackhole": True}}}})
        if _WORKERS and len(before) > 1:
            patch(lab, {"dataplane": {"workers": _WORKERS}})
            wait_until(
                lambda: len(_threads(lab)) == 1 + _WORKERS, timeout_s=120, what="VPP with a worker",
                instead=lambda: lab.supervisorctl("status", "vpp"),
            )  # fmt: skip
            _leave_alone(lab, before - os.sched_getaffinity(_threads(lab)[-1]))
        wait_up(lab)
        lab.vppctl(
            *f"packet-generator new {{ name bench limit 0 worker 0 size 64-64 node ip4-input data"
            f" {{ UDP: {_FROM} -> {_TO} UDP: 1234 -> 2345 incrementing 22 }} }}".split()
        )
        yield lab
    os.sched_setaffinity(0, before)


def _leave_alone(live: LiveLab, cpus: set[int]) -> None:
    """All but VPP runs on these CPUs, as on an appliance, and not on its worker's."""
    vpp = Supervisor(live.directory).pid("vpp")
    for pid in (os.getpid(), *marked_processes(live.directory)):
        if pid == vpp:
            continue
        with suppress(OSError):  # it ended meanwhile
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), cpus)


def _threads(live: LiveLab) -> list[int]:
    """VPP's main thread and then its worker, if it has one."""
    pid = Supervisor(live.directory).pid("vpp")
    tasks = Path(f"/proc/{pid}/task")
    try:
        names = {int(task.name): (task / "comm").read_text() for task in tasks.iterdir()}
    except OSError:  # it is just restarting
        return []
    return [pid, *sorted(thread for thread, name in names.items() if name.startswith("vpp_wk"))]


def _worked_s(thread: int) -> float:
    return int(Path(f"/proc/{thread}/schedstat").read_text().split()[0]) / 1e9


@contextmanager
def _saturated(live: LiveLab) -> Iterator[None]:
    """Reported and judged by the CPU time that the forwarding thread has in the meantime."""
    thread = _threads(live)[-1]
    live.vppctl("packet-generator", "enable-stream", "bench")
    worked_s, began_s = _worked_s(thread), time.monotonic()
    try:
        yield
    finally:
        share = (_worked_s(thread) - worked_s) / (time.monotonic() - began_s)
        live.vppctl("packet-generator", "disable-stream", "bench")
    generated = live.vppctl("show", "packet-generator")
    print(f"VPP was saturated: {share:.0%} of a CPU; {' '.join(generated.split())}", flush=True)
    assert not _WORKERS or share > _SATURATED


def _requests(live: LiveLab, http: httpx.Client) -> dict[str, Callable[[int], object]]:
    """The questions, by name."""

    def page(_: int) -> None:
        assert http.get("/").status_code == 200

    def read(path: str) -> Callable[[int], object]:
        return lambda _: json_of(live.api.get(f"/{path}"))

    asked: dict[str, Callable[[int], object]] = {"the dashboard": page}
    asked |= {path: read(path) for path in _READS}
    asked["preview of one line"] = lambda number: patch(live, one_line(number), "dry_run=true")
    return asked


def test_saturated_against_idle(live: LiveLab) -> None:
    print()
    with signed_in(live) as http:
        asked = _requests(live, http)
        idle: dict[str, list[float]] = {name: [] for name in asked}
        busy: dict[str, list[float]] = {name: [] for name in asked}
        for action in asked.values():
            times_ms(action, 3)  # connections are made, caches warm
        for _ in range(_TURNS):
            for name, action in asked.items():
                idle[name] += times_ms(action)
            with _saturated(live):
                for name, action in asked.items():
                    busy[name] += times_ms(action)
    for name in asked:
        alone, meanwhile = (
            told(f"{name}, VPP idle", idle[name], "ms"),
            told(f"{name}, VPP saturated", busy[name], "ms"),
        )
        told(f"{name}: p95 saturated / idle", [meanwhile["p95"] / alone["p95"]], "", Goal("most", 2))
    assert live.vppctl("show", "version")
