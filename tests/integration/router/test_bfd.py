"""BFD on the whole router: sessions with the lab's neighbors, a link that goes silent, and who is let in.

::

    lan host ── lan0 [router] wan0 ── BGP neighbor
                       core0
                         │
                   OSPF neighbor
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from appliance.state.bfd import BFD, BfdState
from lab import addressing as at
from lab.bird_peers import BFD_INTERVAL_MS, BFD_MULTIPLIER
from lab.namespaces import run_in
from tests.live_lab import LiveLab, json_of, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.root]

WAN, WAN6, CORE = str(at.WAN.far_v4.ip), str(at.WAN.far_v6.ip), str(at.CORE.far_v4.ip)
WATCHED = {
    "routing": {
        "bfd": {
            "profiles": {
                "lab": {
                    "transmit_interval_ms": BFD_INTERVAL_MS,
                    "receive_interval_ms": BFD_INTERVAL_MS,
                    "detect_multiplier": BFD_MULTIPLIER,
                }
            }
        },
        "bgp": {"peer_groups": {"upstream": {"bfd_profile": "lab"}}},
        "ospf": {"interfaces": {"core0": {"bfd_profile": "lab"}}},
    }
}
SILENCE = """table inet silence {
  chain in { type filter hook prerouting priority -300; iifname "eth0" drop; };
  chain out { type filter hook output priority -300; oifname "eth0" drop; };
}"""
PATCH = {"Content-Type": "application/merge-patch+json"}


def _state(live: LiveLab) -> BfdState:
    return BfdState.model_validate(json_of(live.api.get("/state/bfd")))


def _up(live: LiveLab) -> set[str]:
    return {one.peer for one in _state(live).sessions if one.state == "up"}


def _bgp(live: LiveLab, address: str) -> dict[str, Any]:
    found: dict[str, Any] = json_of(live.api.get("/state/bgp"))["neighbors"][address]
    return found


def _full(live: LiveLab) -> bool:
    return any(one["full"] for one in json_of(live.api.get("/state/ospf"))["neighbors"])


def _dropped(live: LiveLab, interface: str) -> int:
    rows = json_of(live.api.get("/state/control-plane"))["interfaces"]
    return int(next(row["dropped"]["bfd"] for row in rows if row["interface"] == interface))


@contextmanager
def _silent(namespace: str) -> Iterator[Callable[[], float]]:
    """Packets from and to the neighbor are dropped; its links stay up. Returns the seconds since then."""
    run_in(namespace, ["nft", SILENCE])
    began = time.monotonic()
    try:
        yield lambda: time.monotonic() - began
    finally:
        run_in(namespace, ["nft", "delete table inet silence"])


@pytest.fixture
def watched(live: LiveLab) -> Iterator[LiveLab]:
    """Adds BFD for all neighbors to the lab's document, and restores the document at the end."""
    revision = live.agent.status().revision
    wait_until(lambda: _bgp(live, WAN)["state"] == "Established", timeout_s=60, what="the BGP session")
    wait_until(lambda: _full(live), timeout_s=60, what="the OSPF adjacency")
    answer = json_of(live.api.patch("/config", json=WATCHED, headers=PATCH))
    assert {step["impact"] for step in answer["steps"]} == {"none"}
    wait_until(lambda: _up(live) == {WAN, WAN6, CORE}, timeout_s=60, what="BFD with all neighbors")
    yield live
    json_of(live.api.post("/rollback", json={"revision": revision, "comment": "without BFD"}))


def test_sessions_are_up_and_everyone_is_told_of_them(watched: LiveLab) -> None:
    state = watched.agent.state(BFD)
    assert {one.peer for one in state.sessions} == {WAN, WAN6, CORE}
    for one in state.sessions:
        assert one.reason is None and one.counters is not None
        assert one.transmit_interval_ms == BFD_INTERVAL_MS
    assert _bgp(watched, WAN)["state"] == "Established" and _full(watched)


def test_a_silent_link_is_noticed_and_the_neighbor_says_why(watched: LiveLab) -> None:
    """The duration is printed, not judged: other work runs next to this test."""
    names = watched.topology.namespaces
    with _silent(names.wan) as since:
        wait_until(lambda: _bgp(watched, WAN)["state"] != "Established", timeout_s=30, what="BGP noticed")
        noticed_ms = since() * 1000
        assert "BFD" in _bgp(watched, WAN)["last_reset"]
        session = _state(watched).of(WAN)
        assert session is not None and session.state == "down"
        assert session.reason == "control detection time expired"
    print(
        f"\n{watched.dataplane}: {BFD_MULTIPLIER} x {BFD_INTERVAL_MS} ms, "
        f"BGP noticed after {noticed_ms:.0f} ms"
    )
    with _silent(names.core) as since:
        wait_until(lambda: not _full(watched), timeout_s=30, what="OSPF noticed")
        noticed_ms = since() * 1000
        print(f"{watched.dataplane}: OSPF noticed after {noticed_ms:.0f} ms, not {at.OSPF_DEAD_S} s")
    wait_until(lambda: _up(watched) == {WAN, WAN6, CORE}, timeout_s=60, what="BFD with all neighbors again")
    wait_until(lambda: _bgp(watched, WAN)["state"] == "Established", timeout_s=60, what="the BGP session")
    wait_until(lambda: _full(watched), timeout_s=60, what="the OSPF adjacency")


def test_bfd_of_a_stranger_does_not_reach_the_router(watched: LiveLab) -> None:
    """From the LAN, where BFD watches nothing, to all three ports; the sessions continue."""
    before = _dropped(watched, "lan0")
    ups = {one.peer: one.counters.ups for one in _state(watched).sessions if one.counters is not None}
    send = "import socket,sys; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.setsockopt(0,2,255)\n"
    send += f"for port in (3784,3785,4784): s.sendto(bytes(24), ('{at.LAN.near_v4.ip}', port))"
    run_in(watched.topology.namespaces.lan, ["python3", "-c", send])
    wait_until(
        lambda: _dropped(watched, "lan0") >= before + 3, timeout_s=10, what="three packets are counted"
    )
    assert {one.peer: one.counters.ups for one in _state(watched).sessions if one.counters is not None} == ups
