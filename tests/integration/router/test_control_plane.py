"""The whole router, scanned from the LAN: nothing is open but what the document opens, and BGP goes on.

::

    lan host ── lan0 [router] wan0 ── BGP neighbor
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from lab import addressing as at
from lab.namespaces import run_in
from tests.live_lab import LiveLab, json_of, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.root]

PORTS = (22, 53, 80, 123, 161, 179, 443, 520, 2601, 2605, 2616, 2623, 3784, 5432, 6379, 8080, 50000)


def _scan(live: LiveLab, address: str) -> Any:
    argv = [sys.executable, "-m", "tests.image.scan", address, *map(str, PORTS)]
    return json.loads(run_in(live.topology.namespaces.lan, argv, timeout_s=120))


def _sessions(live: LiveLab) -> dict[str, tuple[str, Any]]:
    neighbors = json_of(live.api.get("/state/bgp"))["neighbors"]
    return {address: (one["state"], one["established_epoch_s"]) for address, one in neighbors.items()}


def _are_the_same(now: dict[str, tuple[str, Any]], before: dict[str, tuple[str, Any]]) -> bool:
    """FRR computes the second of a session's start from the present time: it may be off by one."""
    return now.keys() == before.keys() and all(
        state == before[address][0] and abs(since - before[address][1]) <= 1
        for address, (state, since) in now.items()
    )


def _dropped(live: LiveLab, interface: str) -> dict[str, int]:
    rows = json_of(live.api.get("/state/control-plane"))["interfaces"]
    found: dict[str, int] = next(row["dropped"] for row in rows if row["interface"] == interface)
    return found


def test_a_scan_from_the_lan_finds_nothing_and_bgp_goes_on_through_it_and_a_commit(live: LiveLab) -> None:
    revision = live.agent.status().revision
    wait_until(
        lambda: {state for state, _ in _sessions(live).values()} == {"Established"},
        timeout_s=60,
        what="both BGP sessions are up",
    )
    before, counted = _sessions(live), _dropped(live, "lan0")
    # The address on the LAN, and the one on the WAN, which the LAN reaches as well.
    for address in (at.LAN.near_v4, at.LAN.near_v6, at.WAN.near_v4):
        assert _scan(live, str(address.ip)) == {"tcp": [], "udp": []}, address
    dropped = _dropped(live, "lan0")
    assert dropped["bgp"] >= counted["bgp"] + 3
    assert dropped["tcp"] > counted["tcp"] and dropped["udp"] > counted["udp"]

    opened = {
        "interfaces": {"lan0": {"management_services": ["ssh"], "management_sources": ["10.10.0.0/24"]}}
    }
    answer = json_of(
        live.api.patch("/config", json=opened, headers={"Content-Type": "application/merge-patch+json"})
    )
    assert {step["impact"] for step in answer["steps"]} == {"none"}
    assert _are_the_same(_sessions(live), before)
    json_of(live.api.post("/rollback", json={"revision": revision, "comment": "closed again"}))
    assert _are_the_same(_sessions(live), before)
