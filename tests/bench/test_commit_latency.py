"""How long a preview and a one-line commit take on a router that already holds a lot.

1,024 ACL rules, bound, and 1,000 static routes are present; then 100 previews and 100 commits of one line
each, alternating between a static route, an ACL rule, a route map and a description. The same is done first
on the lab's small document, in the same run: the ratio of the two is what a change is to be judged by.
Goals (two cores): preview p95 <= 100 ms, commit p95 <= 300 ms, of the agent alone.

By REST the same is measured as a user meets it, through the web half, and with 10,000 rules, too. Goals:
100 and 200 ms, with 10,000 rules 150 and 300 ms. MILLRACE_BENCH_ROUNDS says how many there are of each (100).
"""

from __future__ import annotations

import copy
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from appliance.config.pointer import merge_patch
from appliance.state.commit_options import CommitOptions
from tests.bench.by_rest import ROUNDS, commits_ms, one_line, previews_ms, times_ms
from tests.bench.figures import Goal, told
from tests.live_lab import LiveLab, live_lab
from tests.requirements import require_root_netns, require_vpp

pytestmark = [pytest.mark.bench, pytest.mark.root]

RULES = 1024
MANY_RULES = 10_000
ROUTES = 1000


@pytest.fixture(scope="module", params=["linux", "vpp"])
def live(request: pytest.FixtureRequest) -> Iterator[LiveLab]:
    """A lab of this benchmark's own."""
    dataplane = cast(str, request.param)
    require_root_netns()
    if dataplane == "vpp":
        require_vpp()
    with live_lab(f"b{dataplane[0]}", dataplane) as lab:
        yield lab


def _large(document: dict[str, Any], rules_count: int = RULES) -> dict[str, Any]:
    """The lab's document with this many bound rules and 1,000 static routes added."""
    large = copy.deepcopy(document)
    rules: dict[str, Any] = {
        str(number): {
            "action": "deny", "protocol": "tcp", "destination_ports": str(1024 + number),
            "source": f"198.18.{number // 256}.{number % 256}/32",
        }
        for number in range(1, rules_count - 1)
    }  # fmt: skip
    rules["60000"] = {"action": "permit"}
    rules["60001"] = {"action": "permit", "family": "ipv6"}
    large.setdefault("acls", {})["large"] = {"rules": rules}
    large["interfaces"]["lan0"]["acl_in"] = ["large"]
    static = large["routing"].setdefault("static", {})
    for number in range(ROUTES):
        static[f"100.{64 + number // 250}.{number % 250}.0/24"] = {"next_hops": [{"address": "10.20.0.2"}]}
    return large


def _one_line(document: dict[str, Any], number: int) -> dict[str, Any]:
    """The document with one value changed, another one on every call."""
    return cast(dict[str, Any], merge_patch(document, one_line(number)))


def _times_ms(document: dict[str, Any], action: Callable[[dict[str, Any]], object]) -> list[float]:
    changed = [_one_line(document, number) for number in range(ROUNDS)]
    return times_ms(lambda number: action(changed[number]))


def _yardstick_ms(document: dict[str, Any]) -> float:
    """The time this machine takes to write and read the document as JSON: its speed varies over the day."""
    taken = []
    for _ in range(20):
        start = time.perf_counter()
        json.loads(json.dumps(document))
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


def _options(comment: str) -> CommitOptions:
    return CommitOptions(author="bench", comment=comment)


def _row(name: str, taken_ms: list[float]) -> str:
    p95 = statistics.quantiles(taken_ms, n=20)[-1]
    median = statistics.median(taken_ms)
    return f"{name:<18} p50 {median:7.1f} ms  p95 {p95:7.1f} ms  max {max(taken_ms):7.1f} ms"


def test_commit_latency(live: LiveLab, capsys: pytest.CaptureFixture[str]) -> None:
    small = live.agent.config().document
    revision = live.agent.status().revision
    measured: dict[str, list[float]] = {}
    for name, document in (("small", small), ("large", _large(small))):
        live.agent.commit(document, _options(f"bench: {name}"))
        measured[f"{name}: preview"] = _times_ms(document, live.agent.plan)
        measured[f"{name}: commit"] = _times_ms(
            document, lambda wanted: live.agent.commit(wanted, _options("bench"))
        )
    live.agent.rollback(revision, _options("bench: done"))
    with capsys.disabled():
        print(f"\n{live.dataplane} on {platform.machine()}, {os.cpu_count()} cores")
        yardstick_ms = _yardstick_ms(_large(small))
        print(
            f"large: {RULES} rules, {ROUTES} static routes; its JSON written and read {yardstick_ms:.1f} ms"
        )
        for name, taken in measured.items():
            print(_row(name, taken))
        for kind in ("preview", "commit"):
            large, small_ms = (statistics.median(measured[f"{size}: {kind}"]) for size in ("large", "small"))
            print(
                f"{kind}: large / small = {large / small_ms:.2f}, large / JSON = {large / yardstick_ms:.1f}"
            )


@pytest.mark.parametrize(
    ("rules", "preview_ms", "commit_ms"), [(RULES, 100, 200), (MANY_RULES, 150, 300)], ids=["1024", "10000"]
)
def test_by_rest(live: LiveLab, rules: int, preview_ms: int, commit_ms: int) -> None:
    revision = live.agent.status().revision
    live.agent.commit(
        _large(live.agent.config().document, rules),
        _options(f"bench: {rules} rules"),
    )
    before = live.agent.status().revision
    of = f"with {rules:,} rules and {ROUTES:,} static routes, by REST, {live.dataplane}"
    print()
    told(f"preview of one line {of}", previews_ms(live), "ms", Goal("p95", preview_ms))
    assert live.agent.status().revision == before
    told(f"commit of one line {of}", commits_ms(live), "ms", Goal("p95", commit_ms))
    after = live.agent.status().revision
    live.agent.rollback(revision, _options("bench: done"))
    assert before is not None
    assert after == before + ROUNDS
