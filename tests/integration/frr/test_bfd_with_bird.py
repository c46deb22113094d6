"""BFD between FRR and BIRD: the cost of a link that goes silent, and what is reported about it.

::

    FRR, AS 65000   d0 10.9.0.1 --- 10.9.0.2   BIRD, AS 65001   (BGP, BFD)
                    d1 10.9.1.1 --- 10.9.1.2                    (OSPF, BFD)
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from appliance.routing.rows import bgp_neighbor
from frr_config import FrrClient, Routing, plan, render
from frr_config.protocols.bfd.state import BfdSession, bfd_sessions
from tests.integration.frr.bird_neighbor import BirdNeighbor, bird_installed
from tests.integration.frr.conftest import configure
from tests.integration.frr.harness import FrrHarness, frr_installed, wait_until

pytestmark = pytest.mark.root

PEER, OSPF_PEER = "10.9.0.2", "10.9.1.2"
INTERVAL_MS, MULTIPLIER = 100, 3
BIRD_INTERVAL_MS, BIRD_MULTIPLIER = 150, 4
HOLD_S = 180
CONFIGURATION = f"""log stderr all;
router id 10.255.0.2;
protocol device {{ scan time 10; }}
protocol bfd {{
  interface "d*" {{ interval {BIRD_INTERVAL_MS} ms; multiplier {BIRD_MULTIPLIER}; }};
}}
protocol bgp near {{
  local as 65001;
  neighbor 10.9.0.1 as 65000;
  source address {PEER};
  connect retry time 1; connect delay time 1; error wait time 1, 2;
  hold time {HOLD_S};
  bfd on;
  ipv4 {{ import all; export none; }};
}}
protocol ospf v2 {{
  ipv4 {{ import all; export none; }};
  area 0 {{ interface "d1" {{ type ptp; hello 10; dead 40; bfd yes; }}; }};
}}
"""
ROUTING: dict[str, Any] = {
    "bfd": {
        "profiles": {
            "fast": {
                "transmit_interval_ms": INTERVAL_MS,
                "receive_interval_ms": INTERVAL_MS,
                "detect_multiplier": MULTIPLIER,
            },
            "slow": {"transmit_interval_ms": 400, "receive_interval_ms": 500, "detect_multiplier": 7},
        }
    },
    "bgp": {
        "asn": 65000,
        "router_id": "10.255.0.1",
        "ebgp_requires_policy": False,
        "neighbors": {
            PEER: {"remote_asn": 65001, "connect_retry_s": 1, "bfd_profile": "fast", "ipv4_unicast": {}}
        },
    },
    "ospf": {
        "router_id": "10.255.0.1",
        "interfaces": {"d1": {"area": "0", "network_type": "point-to-point", "bfd_profile": "fast"}},
    },
}
SILENCE = """table ip silence {
  chain in { type filter hook prerouting priority -300; iifname "d*" drop; };
  chain out { type filter hook output priority -300; oifname "d*" drop; };
}"""


@dataclass
class Watched:
    """The router, its configuration, and its neighbor."""

    client: FrrClient
    bird: BirdNeighbor

    def session(self, peer: str) -> BfdSession | None:
        return next((one for one in bfd_sessions(self.client) if one.peer == peer), None)

    def state(self, peer: str) -> str:
        session = self.session(peer)
        return "none" if session is None else session.state

    def bgp(self) -> dict[str, Any]:
        return self.client.bgp_neighbor(PEER)

    def established(self) -> bool:
        return bool(self.bgp().get("bgpState") == "Established")

    def connection(self) -> tuple[int, int]:
        """The ports of the session: another TCP connection has others."""
        found = self.bgp()
        return int(found["portLocal"]), int(found["portForeign"])

    def adjacent(self) -> bool:
        found = self.client.ospf_neighbors().get("neighbors", {})
        return any("Full" in str(entry) for entry in found.values())

    def wait_up(self) -> None:
        wait_until(self.established, "the BGP session", 40)
        wait_until(self.adjacent, "the OSPF adjacency", 60)
        for peer in (PEER, OSPF_PEER):
            self.wait_for(peer, "state", "up")

    def wait_for(self, peer: str, field: str, value: object) -> None:
        """Until a field of the session with this neighbor has this value."""
        wait_until(lambda: getattr(self.session(peer), field, None) == value, f"{field} {value} of {peer}")

    def downs(self, peer: str) -> int:
        session = self.session(peer)
        assert session is not None and session.counters is not None
        return session.counters.downs


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    if not frr_installed() or not bird_installed():
        pytest.skip("FRRouting and BIRD have to be installed (Debian packages frr and bird2)")
    name = f"fb{os.getpid() % 100000}"
    directory: Path = tmp_path_factory.mktemp("bird")
    with FrrHarness(name, name) as near, BirdNeighbor(f"{name}b", directory, CONFIGURATION) as bird:
        for at in range(2):
            near.add_link(f"d{at}", f"10.9.{at}.1/24", peer=(bird.netns, f"d{at}"))
            bird.add_address(f"d{at}", f"10.9.{at}.2/24")
        bird.start()
        yield Watched(near.client(), bird)


@pytest.fixture
def watched(running: Watched) -> Watched:
    configure(running.client, ROUTING)
    running.wait_up()
    return running


def test_sessions_are_up_and_their_timers_are_told(watched: Watched) -> None:
    for peer in (PEER, OSPF_PEER):
        session = watched.session(peer)
        assert session is not None and session.counters is not None
        assert not session.multihop and session.reason is None
        assert session.transmit_interval_ms == session.receive_interval_ms == INTERVAL_MS
        assert session.detect_multiplier == MULTIPLIER
        watched.wait_for(peer, "detection_time_ms", BIRD_MULTIPLIER * BIRD_INTERVAL_MS)
        assert session.counters.control_received > 0 < session.counters.control_sent
    assert "Up" in watched.bird.birdc("show", "bfd", "sessions")


@pytest.mark.parametrize(
    "change",
    [
        {"detect_multiplier": 5},
        {"transmit_interval_ms": 200},
        {"receive_interval_ms": 250},
        {"passive": True},
        {"minimum_ttl": 200},
        {"echo_transmit_interval_ms": 60},
        {"echo_receive_interval_ms": 0},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_field_of_a_profile_changes_under_a_session_that_stays_up(
    watched: Watched, change: dict[str, Any]
) -> None:
    before = {peer: watched.downs(peer) for peer in (PEER, OSPF_PEER)}
    profiles = ROUTING["bfd"]["profiles"]
    changed = {**ROUTING, "bfd": {"profiles": {**profiles, "fast": {**profiles["fast"], **change}}}}
    assert [summary.split(":")[0] for summary in configure(watched.client, changed)] == [
        "change BFD profile fast"
    ]
    (field, value) = next(iter(change.items()))
    if field in ("detect_multiplier", "transmit_interval_ms", "receive_interval_ms", "passive"):
        wait_until(
            lambda: all(getattr(watched.session(peer), field) == value for peer in before), f"{field} in use"
        )
    configure(watched.client, ROUTING)
    assert {peer: watched.downs(peer) for peer in before} == before
    assert watched.established() and watched.adjacent()


def test_another_profile_is_taken_without_a_reset(watched: Watched) -> None:
    before = watched.downs(PEER), watched.downs(OSPF_PEER)
    changed: dict[str, Any] = {**ROUTING, "bgp": {**ROUTING["bgp"]}, "ospf": {**ROUTING["ospf"]}}
    changed["bgp"]["neighbors"] = {PEER: {**ROUTING["bgp"]["neighbors"][PEER], "bfd_profile": "slow"}}
    changed["ospf"]["interfaces"] = {"d1": {**ROUTING["ospf"]["interfaces"]["d1"], "bfd_profile": "slow"}}
    configure(watched.client, changed)
    for peer in (PEER, OSPF_PEER):
        watched.wait_for(peer, "detect_multiplier", 7)
    configure(watched.client, ROUTING)
    assert (watched.downs(PEER), watched.downs(OSPF_PEER)) == before


def test_bfd_comes_without_a_reset_and_goes_with_one_that_the_plan_tells(watched: Watched) -> None:
    """BIRD, like bfdd, treats the end of the other side's BFD as the loss of the path."""
    without: dict[str, Any] = {**ROUTING, "bgp": {**ROUTING["bgp"]}}
    without["bgp"]["neighbors"] = {PEER: {**ROUTING["bgp"]["neighbors"][PEER], "bfd_profile": None}}
    desired = [render(Routing.model_validate(one), watched.client.version()) for one in (ROUTING, without)]
    (step,) = plan(desired[1], desired[0])
    assert step.impact == f"resets bgp neighbor {PEER}"
    (step,) = plan(desired[0], desired[1])
    assert step.impact == "none"
    with_bfd = watched.connection()
    configure(watched.client, without)
    wait_until(lambda: watched.state(PEER) == "none", "the end of the BFD session")
    # BIRD notices only when its detection time is over: until then the lost session is still shown.
    wait_until(
        lambda: watched.established() and watched.connection() != with_bfd,
        "the BGP session after the loss",
        40,
    )
    connection = watched.connection()
    configure(watched.client, ROUTING)
    wait_until(lambda: watched.state(PEER) == "up", "the BFD session")
    assert watched.connection() == connection


def test_a_silent_link_is_noticed_in_time_and_says_why(watched: Watched) -> None:
    """The carrier stays: only BFD can notice. Judged by state; the duration is printed."""
    before = watched.downs(PEER)
    watched.bird.nft(SILENCE)
    began = time.monotonic()
    try:
        wait_until(lambda: not watched.established(), "the end of the BGP session", 30)
        noticed_s = time.monotonic() - began
        wait_until(lambda: not watched.adjacent(), "the end of the adjacency", 30)
        adjacent_s = time.monotonic() - began
        session = watched.session(PEER)
        assert session is not None
        print(
            f"\nBFD {BIRD_MULTIPLIER} x {BIRD_INTERVAL_MS} ms: BGP noticed after {noticed_s * 1000:.0f} ms, "
            f"OSPF after {adjacent_s * 1000:.0f} ms"
        )
        # bgpd reports either: the cause of the loss, or the notification that it sent because of it.
        assert bgp_neighbor(watched.bgp(), {}).last_reset in (
            "BFD down received",
            "BGP Notification send: Cease/BFD Down",
        )
        assert watched.downs(PEER) == before + 1
        assert session.state == "down"
        assert session.reason == session.diagnostic == "control detection time expired"
    finally:
        watched.bird.nft("delete table ip silence")
    watched.wait_up()
