"""Throughput of Millrace's VPP with its agent, of VPP configured by hand, and of the Linux kernel, in turn.

Writes JSON to the file that MILLRACE_BENCH_RESULT names; ``python -m tests.bench.throughput.report FILE``
makes the page docs/performance.md of it. MILLRACE_BENCH_SCENARIOS names some of the scenarios, or groups.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from appliance.bench.search import PDR_LOSS, TRIAL_S, Measured, rounds, search
from lab.memif_traffic import Trial
from tests.bench.throughput.machine import machine
from tests.bench.throughput.routers import Bare, Kernel, Millrace, Router, VppRouter
from tests.bench.throughput.scenarios import SCENARIOS, Scenario
from tests.requirements import require_root_netns, require_vpp

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_RESULT = Path(os.environ.get("MILLRACE_BENCH_RESULT", "/tmp/millrace-throughput.json"))
_WANTED = os.environ.get("MILLRACE_BENCH_SCENARIOS", "").split()
_ROUNDS, _ROUND_S = 9, 0.2
_LONG_ROUNDS, _LONG_ROUND_S = 21, 0.4
"""Of the scenarios that say what telemetry costs: eight seconds in all, with a count in each."""
_CHURN_PPS, _CHURN_S = 20_000.0, 20.0
"""So few that the ring holds what comes in while another process has the worker's CPU."""
_CHURN_ROUTES = 1000
_CHOSEN = [one for one in SCENARIOS if not _WANTED or {one.id, one.group} & set(_WANTED)]


@pytest.fixture(scope="module")
def millrace() -> Iterator[Millrace]:
    require_root_netns()
    require_vpp()
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU forwards and another one sends: this machine has one")
    router = Millrace()
    yield router
    router.close()


@pytest.fixture(scope="module")
def results() -> Iterator[dict[str, Any]]:
    """What is written in the end."""
    told: dict[str, Any] = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "method": {"trial_s": TRIAL_S, "pdr_loss": PDR_LOSS, "rounds": _ROUNDS, "round_s": _ROUND_S,
                   "long_rounds": _LONG_ROUNDS, "long_round_s": _LONG_ROUND_S},
        "scenarios": [],
    }  # fmt: skip
    yield told
    told["machine_after"] = machine()
    _RESULT.write_text(json.dumps(told, indent=1) + "\n")
    print(f"\nresults: {_RESULT}")


@pytest.mark.parametrize("scenario", _CHOSEN, ids=lambda one: one.id)
def test_throughput(scenario: Scenario, millrace: Millrace, results: dict[str, Any]) -> None:
    with ExitStack() as stack:
        routers: list[Router] = [millrace]
        with millrace.running():
            millrace.commit(scenario.document)
        if scenario.millrace is not None:
            scenario.millrace(millrace)
        if scenario.millrace_undo is not None:
            stack.callback(scenario.millrace_undo, millrace)
        bare = Bare()
        stack.callback(bare.close)
        if scenario.bare is not None:
            scenario.bare(bare)
        routers.append(bare)
        if scenario.with_kernel:
            kernel = Kernel()
            stack.callback(kernel.close)
            if scenario.kernel is not None:
                scenario.kernel(kernel)
            routers.append(kernel)
        measured = {router.name: Measured() for router in routers}
        for router in routers:
            stack.callback(router.hush)
            router.offer(scenario.streams)
            if scenario.warm_s:
                for _ in range(4):
                    router.trial(500_000, scenario.warm_s)
        vpps = [router for router in routers if isinstance(router, VppRouter)]
        for vpp in vpps:
            vpp.clear()
        long = scenario.group == "fwd"
        rounds(routers, measured, *((_LONG_ROUNDS, _LONG_ROUND_S) if long else (_ROUNDS, _ROUND_S)))
        for vpp in vpps:
            measured[vpp.name].nodes = vpp.nodes()
        search([one for one in routers if one in vpps or scenario.group in ("fwd", "imix")], measured)
    streams = [stream for stream in scenario.streams if stream is not None]
    results["scenarios"].append(
        {
            "id": scenario.id,
            "group": scenario.group,
            "title": scenario.title,
            "size": scenario.size,
            "sizes_bytes": sorted({size for stream in streams for size in stream.sizes_bytes}),
            "directions": len(streams),
            "routers": {name: asdict(one) | {"mrr_pps": one.mrr_pps} for name, one in measured.items()},
        }
    )
    print(f"\n{scenario.id}: " + ", ".join(
        f"{name} {one.mrr_pps / 1e6:.2f} Mpps (NDR {(one.ndr_pps or 0) / 1e6:.2f}, PDR"
        f" {(one.pdr_pps or 0) / 1e6:.2f})" for name, one in measured.items()
    ))  # fmt: skip
    for name, one in measured.items():
        assert one.mrr_pps > 0, f"{name} forwarded nothing"
        overloaded = [trial for trial in one.trials if trial["what"] == "overload"]
        assert all(trial["foreign"] <= trial["sampled"] * 0.001 for trial in overloaded), (
            f"{name}: not the stream's"
        )


@pytest.mark.skipif(bool(_WANTED) and "churn" not in _WANTED, reason="other scenarios were asked for")
def test_churn(millrace: Millrace, results: dict[str, Any]) -> None:
    """A commit each second and a thousand routes back and forth, while packets pass: how many are lost."""
    with millrace.running():
        millrace.commit({})
        millrace.offer(SCENARIOS[0].streams)
    trials: list[Trial] = []
    with millrace.running():
        quiet = millrace.steady(_CHURN_PPS, 5)
    with millrace.running():
        thread = threading.Thread(target=lambda: trials.append(millrace.steady(_CHURN_PPS, _CHURN_S)))
        thread.start()
        commits, routes, ends = 0, 0, time.monotonic() + _CHURN_S - 2
        prefix, hop = "198.18.0.0/32", f"via 200.0.0.2 {millrace.interface('right')}"
        while time.monotonic() < ends:
            rules = {"10": {"action": "permit"}, str(20 + commits): {"action": "permit", "protocol": "tcp"}}
            millrace.commit({
                "acls": {"churn": {"rules": rules}},
                "interfaces": {"left": {"acl_in": ["churn"] if commits % 2 else []}},
            })  # fmt: skip
            commits += 1
            for word in ("add", "del"):
                millrace.cli(f"ip route {word} {prefix} count {_CHURN_ROUTES} {hop}")
                routes += _CHURN_ROUTES
            time.sleep(0.3)
        thread.join()
        millrace.hush()
        millrace.commit({})
    (trial,) = trials
    results["churn"] = {
        "pps": _CHURN_PPS, "seconds": trial.seconds, "commits": commits, "route_changes": routes,
        "offered": trial.offered, "lost": trial.offered - trial.received + trial.foreign,
        "refused": trial.refused,
        "lost_without_changes": quiet.offered - quiet.received + quiet.foreign,
    }  # fmt: skip
    print(f"\nchurn: {results['churn']}")
    assert commits >= 5
    assert trial.received > 0
