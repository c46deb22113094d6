"""A router with a full table in VPP, as a user meets it by REST: lists of routes, one route, plans, commits.

MILLRACE_BENCH_ROUTES sets how many routes (1,000,000), MILLRACE_BENCH_ROUNDS how many requests of each kind
(100). Goals (two cores): any question for routes p95 <= 100 ms, the agent grows by at most 10 MB meanwhile;
preview of one line p95 <= 60 ms, commit p95 <= 150 ms.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lab.supervision import Supervisor
from tests import full_table, requirements
from tests.bench.by_rest import ROUNDS, commits_ms, previews_ms, times_ms, wait_up
from tests.bench.figures import Goal, told
from tests.live_lab import LiveLab, json_of, live_lab, patch
from tests.route_feed import RouteFeed, prefix

pytestmark = [pytest.mark.vpp, pytest.mark.root, pytest.mark.timeout(3600)]

ROUTES = int(os.environ.get("MILLRACE_BENCH_ROUTES", "1000000"))
_LIMIT_S = 900.0
_PAGE = 100


@pytest.fixture(scope="module")
def live() -> Iterator[LiveLab]:
    """A lab of this benchmark's own, with the routes in VPP."""
    requirements.require_root_netns()
    requirements.require_vpp()
    if not RouteFeed.possible():
        pytest.skip("BIRD is not installed (Debian package bird2)")
    with live_lab("bf", "vpp") as lab, full_table.neighbor(lab, ROUTES):
        wait_up(lab)
        patch(lab, {"routing": full_table.ROUTING})
        began_s = time.monotonic()
        while (held := _in_vpp(lab)) < ROUTES:
            assert time.monotonic() - began_s < _LIMIT_S, f"{held} of {ROUTES} routes in VPP"
            time.sleep(1)
        print(f"\n{ROUTES:,} routes in VPP after {time.monotonic() - began_s:.0f} s")
        yield lab


def _in_vpp(live: LiveLab) -> int:
    """0 while the feeder does not answer."""
    try:
        answer = live.api.get("/state/feeder")
    except httpx.HTTPError:
        return 0
    return int(answer.json()["ipv4"]["in_vpp"]) if answer.status_code == 200 else 0


def _agent_mb(live: LiveLab) -> float:
    pid = Supervisor(live.directory).pid("agent")
    resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return resident * os.sysconf("SC_PAGE_SIZE") / 1e6


def _routes(live: LiveLab, query: str) -> Any:
    return json_of(live.api.get(f"/state/routes?{query}"))


def _somewhere(number: int) -> int:
    """Another place in the table in every round."""
    return number * 7919 * 13 % (ROUTES - _PAGE)


def _inside(number: int) -> str:
    """An address of some route."""
    return prefix(_somewhere(number)).replace("0/24", "9")


def test_routes(live: LiveLab) -> None:
    """Each kind of question; the first ones make the index of the list, and the agent's caches."""
    asked: dict[str, Callable[[int], str]] = {
        "the first page": lambda _: f"family=ipv4&limit={_PAGE}",
        "any page": lambda at: f"family=ipv4&limit={_PAGE}&offset={_somewhere(at)}",
        "of a protocol, any page": lambda at: f"protocol=bgp&limit={_PAGE}&offset={_somewhere(at)}",
        "one route, by longest match": lambda at: f"prefix={_inside(at)}",
        "inside a /16": lambda at: f"prefix=16.{_somewhere(at) >> 8 & 3}.0.0/16&within=true&limit={_PAGE}",
        "covering an address": lambda at: f"prefix={_inside(at)}&covering=true",
    }
    before_mb = _agent_mb(live)
    for question in asked.values():
        _routes(live, question(0))
    first_mb = _agent_mb(live)
    print()
    for name, question in asked.items():
        answers: list[Any] = []
        taken_ms = times_ms(lambda at: answers.append(_routes(live, question(at))))  # noqa: B023  # at once
        assert all(answer["routes"] for answer in answers), (name, answers[0])
        if "page" in name:
            assert {answer["total"] >= ROUTES for answer in answers} == {True}, (name, answers[0]["note"])
        total = answers[-1]["total"]
        told(f"state/routes, {name}, {total:,} in all", taken_ms, "ms", Goal("p95", 100))
    grown_mb = _agent_mb(live) - before_mb
    told("the agent's growth over the first question of each kind", [first_mb - before_mb], "MB")
    told(f"the agent's growth over {len(asked) * ROUNDS} questions", [grown_mb], "MB", Goal("most", 10))


def test_commits(live: LiveLab) -> None:
    before = live.agent.status().revision
    of = f"with {ROUTES:,} routes in VPP, by REST"
    print()
    told(f"preview of one line {of}", previews_ms(live), "ms", Goal("p95", 60))
    told(f"commit of one line {of}", commits_ms(live), "ms", Goal("p95", 150))
    assert before is not None
    assert live.agent.status().revision == before + ROUNDS
    assert _in_vpp(live) >= ROUTES
