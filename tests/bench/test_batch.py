"""How long many objects take by REST, from the request to the recorded revision, and others wait for it.

Route maps of two rules each are committed and removed, and meanwhile another user commits one line; then
rules of one access list that is bound to an interface, and entries of one prefix list.
Goals (two cores): 1,000 route maps <= 2 s, 10,000 rules <= 0.5 s in VPP, 100,000 entries <= 3 s. FRR 8.4
takes a prefix list line by line, so 10,000 entries are measured, unless MILLRACE_BENCH_ENTRIES says
otherwise; MILLRACE_BENCH_TIMES is how often each is committed (3).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.bench.figures import Goal, told
from tests.live_lab import LiveLab, json_of, live_lab
from tests.requirements import require_root_netns, vpp_installed

pytestmark = [pytest.mark.bench, pytest.mark.root]

ROUTE_MAPS = int(os.environ.get("MILLRACE_BENCH_ROUTE_MAPS", "1000"))
RULES = int(os.environ.get("MILLRACE_BENCH_RULES", "10000"))
ENTRIES = int(os.environ.get("MILLRACE_BENCH_ENTRIES", "10000"))
TIMES = int(os.environ.get("MILLRACE_BENCH_TIMES", "3"))
_LONGEST_S = 900.0


@pytest.fixture(scope="module")
def live() -> Iterator[LiveLab]:
    """A lab of this benchmark's own, with VPP where it is installed; FRR is the same on both data planes."""
    require_root_netns()
    with live_lab("bb", "vpp" if vpp_installed() else "linux") as lab:
        yield lab


def _put(live: LiveLab, path: str, value: Any) -> float:
    """Commit the value and return the seconds it took; a commit that outlasts its request is waited for."""
    start = time.perf_counter()
    answer = live.api.put(f"/config/{path}?confirm_s=0", json=value, timeout=_LONGEST_S)
    while answer.status_code == 202:
        assert time.perf_counter() - start < _LONGEST_S, answer.text
        time.sleep(0.1)
        answer = live.api.get(answer.headers.get("Location", str(answer.url)).removeprefix("/api/v1"))
    json_of(answer)
    return time.perf_counter() - start


def _there_and_back(live: LiveLab, path: str, value: Any, what: str, goal_s: float | None) -> None:
    """Committed and removed several times; both are reported."""
    before = json_of(live.api.get(f"/config/{path}"))
    taken: dict[str, list[float]] = {"committed": [], "removed": [], "another's line meanwhile": []}
    for _ in range(TIMES):
        for name, wanted in (("committed", value), ("removed", before)):
            waiting = threading.Thread(target=_other_user, args=(live, taken, name))
            waiting.start()
            taken[name].append(_put(live, path, wanted))
            waiting.join()
    print()
    for name, seconds in taken.items():
        goal = Goal("p95", goal_s) if goal_s is not None and name == "committed" else None
        told(f"{what}, by REST, {live.dataplane}: {name}", seconds, "s", goal)
    assert all(len(seconds) >= TIMES for seconds in taken.values())


def _other_user(live: LiveLab, taken: dict[str, list[float]], during: str) -> None:
    """One line, half a second after the many."""
    time.sleep(0.5)
    path, line = "interfaces/lan0/description", f"while {during} {len(taken[during])}"
    taken["another's line meanwhile"].append(_put(live, path, line))


def test_many_route_maps(live: LiveLab) -> None:
    rules = {"10": {"action": "permit", "set": {"local_preference": 200}}, "20": {"action": "deny"}}
    present = json_of(live.api.get("/config/routing/policy/route_maps"))
    large = present | {f"bench-{number}": {"rules": rules} for number in range(ROUTE_MAPS)}
    goal_s = 2 if ROUTE_MAPS == 1000 else None
    _there_and_back(
        live, "routing/policy/route_maps", large, f"{ROUTE_MAPS:,} route maps of two rules", goal_s
    )


def test_many_rules(live: LiveLab) -> None:
    last = {"60000": {"action": "permit"}, "60001": {"action": "permit", "family": "ipv6"}}
    json_of(live.api.put("/config/acls/many?confirm_s=0", json={"rules": last}))
    json_of(live.api.put("/config/interfaces/lan0/acl_in?confirm_s=0", json=["many"]))
    rules: dict[str, Any] = {
        str(number): {
            "action": "deny", "protocol": "tcp", "destination_ports": str(1024 + number),
            "source": f"198.18.{number >> 8}.{number & 255}/32",
        }
        for number in range(1, RULES - 1)
    }  # fmt: skip
    goal_s = 0.5 if RULES == 10_000 and live.dataplane == "vpp" else None
    _there_and_back(live, "acls/many", {"rules": rules | last}, f"{RULES:,} rules of an access list", goal_s)


def test_many_prefix_list_entries(live: LiveLab) -> None:
    path = "routing/policy/prefix_lists"
    entries = {
        str(number): {
            "action": "permit",
            "prefix": f"{16 + (number >> 16)}.{number >> 8 & 255}.{number & 255}.0/24",
        }
        for number in range(1, ENTRIES + 1)
    }
    large = json_of(live.api.get(f"/config/{path}")) | {"bench": {"rules": entries}}
    # The goal is that of 100,000.
    goal_s = 3 if ENTRIES == 100_000 else None
    _there_and_back(live, path, large, f"{ENTRIES:,} entries of a prefix list", goal_s)
