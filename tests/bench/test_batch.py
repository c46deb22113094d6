"""How long many route maps take by REST, from the request to the recorded revision, and others wait for it.

1,000 route maps of two rules each are committed and removed; meanwhile another user commits one line.
Goals (two cores): committed <= 5 s, removed <= 5 s, the other commit <= 6 s.
"""

from __future__ import annotations

import copy
import os
import platform
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.live_lab import LiveLab, json_of, live_lab
from tests.requirements import require_root_netns

pytestmark = [pytest.mark.bench, pytest.mark.root]

ROUTE_MAPS = 1000


@pytest.fixture(scope="module")
def live() -> Iterator[LiveLab]:
    """A lab of this benchmark's own; FRR is the same on both data planes."""
    require_root_netns()
    with live_lab("bb", "linux") as lab:
        yield lab


def test_a_thousand_route_maps(live: LiveLab, capsys: pytest.CaptureFixture[str]) -> None:
    small = live.agent.config().document
    large = copy.deepcopy(small)
    rules = {"10": {"action": "permit", "set": {"local_preference": 200}}, "20": {"action": "deny"}}
    large["routing"]["policy"].setdefault("route_maps", {}).update(
        {f"bench-{number}": {"rules": rules} for number in range(ROUTE_MAPS)}
    )
    revision = live.agent.status().revision
    taken: dict[str, float] = {}
    for name, route_maps in (("committed", large), ("removed", small)):
        waiting = threading.Thread(target=_other_user, args=(live, taken, name))
        start = time.perf_counter()
        waiting.start()
        _replace_route_maps(live, route_maps)
        taken[name] = time.perf_counter() - start
        waiting.join()
    live.agent.rollback(revision, comment="bench: done", author="bench")
    with capsys.disabled():
        print(f"\n{ROUTE_MAPS} route maps of two rules, linux, {platform.machine()}, {os.cpu_count()} cores")
        for name, seconds in taken.items():
            print(f"{name:<34} {seconds:6.2f} s")


def _replace_route_maps(live: LiveLab, document: dict[str, Any]) -> None:
    route_maps = document["routing"]["policy"].get("route_maps", {})
    json_of(live.api.put("/config/routing/policy/route_maps", json=route_maps))


def _other_user(live: LiveLab, taken: dict[str, float], during: str) -> None:
    """One line, half a second after the many."""
    time.sleep(0.5)
    start = time.perf_counter()
    json_of(live.api.put("/config/interfaces/lan0/description", json=f"while {during}"))
    taken[f"another's line, while {during}"] = time.perf_counter() - start
