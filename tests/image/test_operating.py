"""A router at work: BGP and OSPF with many routes when VPP is killed, NAT, a capture, commits that wait."""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.utils import rdpcap

from lab import namespaces
from tests.image import bird
from tests.image.artefacts import Artefacts
from tests.image.bird import Bird
from tests.image.fleet import Fleet, Member
from tests.image.kinds import VIRTIO
from tests.image.patience import wait_for, wall_time
from tests.image.router import Router
from tests.integration.linux.test_nat import seen_as, serving
from tests.live_lab import json_of
from tests.route_feed import prefix

KIND = VIRTIO
ROUTES = int(os.environ.get("MILLRACE_IMAGE_ROUTES", "20000"))
"""From the BGP neighbor."""
TAKEN_S = 600.0
"""For all of them to get into the FIB."""
INSIDE, OUTSIDE, ROUTER = "10.77.1.2", "10.77.2.2", "10.77.2.1"
PORT = 7001
LOOPBACKS = 12
"""A commit of these is under way for seconds."""
ASYNC = {"Prefer": "respond-async"}
MERGE = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture(scope="module")
def member(fleet: Fleet) -> Member:
    """A router that forwards."""
    return fleet.member(KIND)


@pytest.fixture(scope="module")
def router(member: Member) -> Router:
    """The router."""
    return member.router


@pytest.fixture
def plain(member: Member) -> Iterator[None]:
    """What a test commits is taken back."""
    yield
    member.router.put(member.document)


def _far_ends() -> tuple[tuple[str, str, str], ...]:
    """Which side asks, which has the address, and an address behind a learned route."""
    last = prefix(ROUTES - 1).removesuffix("0/24") + "1"
    return (("right", "left", last), ("left", "right", bird.OSPF_PREFIXES[-1].removesuffix("0/24") + "1"))


@pytest.fixture
def neighbors(member: Member, directory: Path) -> Iterator[None]:
    """BGP on the left and OSPF on the right, both up, with all their routes in the FIB."""
    hosts = member.hosts
    sides = {"left": hosts.left, "right": hosts.right}
    for _, owner, address in _far_ends():
        namespaces.run_in(sides[owner], ["ip", "address", "replace", f"{address}/32", "dev", "lo"])
    with (
        Bird(hosts.left, directory, bird.bgp_neighbor(ROUTES)),
        Bird(hosts.right, directory, bird.ospf_neighbor()),
    ):
        member.router.patch({"routing": {"bgp": bird.BGP, "ospf": bird.OSPF}})
        with wall_time(f"{ROUTES} routes of a BGP neighbor, from the end of the commit to the FIB"):
            wait_for(partial(_has_all, member), timeout_s=TAKEN_S, what="all routes in the FIB", pause_s=5)
        try:
            yield
        finally:
            # While the neighbor is up: FRR 10.3 keeps the routes of one that is gone, as far as it has yet to
            # withdraw them when BGP is removed.
            member.router.put(member.document)


def _learned(router: Router) -> dict[str, Any]:
    """What FRR says of its neighbors and its routes, and what is in the kernel's and in VPP's tables."""
    bgp = json_of(router.api.get("/state/bgp"))["neighbors"]
    ospf = json_of(router.api.get("/state/ospf"))["neighbors"]
    fib = router.root("vppctl", "show", "ip", "fib", "summary")
    kernel = router.root("ip", "-n", "dataplane", "-4", "route", "show", "root", "0.0.0.0/0", timeout_s=240)
    return {
        "bgp": {
            address: (
                one["state"],
                {name: family["prefixes_received"] for name, family in one["families"].items()},
            )
            for address, one in bgp.items()
        },
        "ospf": [(one["router_id"], one["interface"], one["full"]) for one in ospf],
        "kernel": {
            protocol: len(re.findall(rf"^[0-9.]+/24 .*proto {protocol} ", kernel, re.MULTILINE))
            for protocol in ("bgp", "ospf")
        },
        # A line for each length of a prefix; /32s are hosts, too, which come and go.
        "fib": dict(re.findall(r"^ +(24|16|8) +([0-9]+) *\r?$", fib, re.MULTILINE)),
    }


def _has_all(member: Member) -> bool:
    fib = member.router.root("vppctl", "show", "ip", "fib", "summary")
    (count,) = re.findall(r"^ +24 +([0-9]+) *\r?$", fib, re.MULTILINE) or ["0"]
    return int(count) >= ROUTES + len(bird.OSPF_PREFIXES) and _reaches_all(member)


def _reaches_all(member: Member) -> bool:
    sides = {"left": member.hosts.left, "right": member.hosts.right}
    return all(member.hosts.ping(address, source=sides[asker]) for asker, _, address in _far_ends())


def test_a_killed_vpp_gets_every_route_again(member: Member, neighbors: None, built: Artefacts) -> None:
    if built.dataplane != "vpp":
        pytest.skip("no VPP in this image")
    router = member.router
    before = _learned(router)
    assert before["bgp"] == {
        bird.NEIGHBORS[0]: ("Established", {"ipv4_unicast": ROUTES}),
        bird.NEIGHBORS[1]: ("Established", {"ipv6_unicast": 0}),
    }
    assert before["ospf"] == [("10.77.2.2", "right0", True)]
    assert before["kernel"] == {"bgp": ROUTES, "ospf": len(bird.OSPF_PREFIXES)}
    restarts, sessions = _restarts(router), bird.sessions(router)
    with wall_time(f"VPP killed with {ROUTES} BGP routes: to all of BGP, OSPF and the FIB as before"):
        router.root("systemctl", "kill", "--signal=KILL", "vpp.service")
        with wall_time("VPP killed: to the first echo through a BGP and an OSPF route"):
            wait_for(lambda: _restarts(router) == restarts + 1, timeout_s=60, what="another VPP")
            wait_for(partial(_reaches_all, member), timeout_s=TAKEN_S, what="echoes by learned routes")
        wait_for(
            lambda: (now := _learned(router)) == before or print(now),
            timeout_s=TAKEN_S,
            what=f"the router as it was: {before}",
            pause_s=5,
        )
    # The mirrors outlived VPP, and with them the sessions.
    assert bird.are_the_same(sessions, bird.sessions(router))
    for number in random.Random(1).sample(range(ROUTES), 10):
        told = json_of(router.api.get("/state/routes", params={"prefix": prefix(number)}))
        assert [(one["prefix"], one["protocol"]) for one in told["routes"]] == [(prefix(number), "bgp")], told
    wait_for(
        lambda: json_of(router.api.get("/status"))["drift"] == [], timeout_s=120, what="no drift", pause_s=2
    )


def _restarts(router: Router) -> int:
    shown = router.root("systemctl", "show", "vpp.service", "--property=NRestarts", "--value", check=False)
    return int(shown or -1)


def _asked(holding: subprocess.Popen[str]) -> str:
    """Whom a connection that is held is seen as now."""
    assert holding.stdin is not None and holding.stdout is not None
    holding.stdin.write("again\n")
    holding.stdin.flush()
    return holding.stdout.readline().strip()


def test_a_session_through_nat_outlives_a_commit_and_is_told(member: Member, plain: None) -> None:
    router, hosts = member.router, member.hosts
    router.patch({"nat": {"inside": ["left0"], "outside": ["right0"], "masquerade": ["right0"]}})
    wait_for(lambda: hosts.ping(OUTSIDE), timeout_s=60, what="an echo through NAT")
    with (
        serving(hosts.right, "listen", str(PORT)),
        serving(hosts.left, "hold", "tcp", OUTSIDE, str(PORT)) as holding,
    ):
        seen = _asked(holding)
        address, _, outside_port = seen.partition(":")
        assert address == ROUTER
        assert seen_as(hosts.left, "udp", OUTSIDE, PORT) == ROUTER
        told = json_of(router.api.get("/state/nat/sessions", params={"inside": INSIDE, "protocol": "tcp"}))
        (session,) = (one for one in told["sessions"] if one["remote_port"] == PORT)
        assert (session["inside_address"], session["outside_address"]) == (INSIDE, ROUTER)
        assert (session["remote_address"], session["outside_port"]) == (OUTSIDE, int(outside_port))
        router.patch({"interfaces": {"left0": {"description": "inside"}}})
        assert _asked(holding) == seen
    router.patch({"nat": None})
    with serving(hosts.right, "listen", str(PORT)):
        assert seen_as(hosts.left, "tcp", OUTSIDE, PORT) == INSIDE


def test_a_capture_has_the_packets_that_passed(member: Member, tmp_path: Path) -> None:
    router, hosts = member.router, member.hosts
    wanted = {"interface": "left0", "filter": "icmp", "seconds": 300}
    begun = json_of(router.api.post("/captures", json=wanted), status=201)
    assert hosts.ping(OUTSIDE, count=5)
    stopped = json_of(router.api.post(f"/captures/{begun['id']}/stop", json={}))
    assert stopped["state"] == "done", stopped
    answer = router.api.get(f"/captures/{begun['id']}/file")
    assert answer.status_code == 200, answer.text
    file = tmp_path / "captured.pcap"
    file.write_bytes(answer.content)
    passed = [(one[IP].src, one[IP].dst, one[ICMP].type) for one in rdpcap(str(file))]
    assert sorted(passed) == [(INSIDE, OUTSIDE, 8)] * 5 + [(OUTSIDE, INSIDE, 0)] * 5
    assert router.api.delete(f"/captures/{begun['id']}").status_code == 200


def test_of_two_commits_at_once_one_waits_for_its_turn(router: Router, plain: None) -> None:
    loopbacks = {
        f"loop{number}": {"type": "loopback", "addresses": [f"10.90.{number}.1/32"]}
        for number in range(LOOPBACKS)
    }
    begun = router.api.patch("/config", json={"interfaces": loopbacks}, headers={**MERGE, **ASYNC})
    first = json_of(begun, status=202)["request_id"]
    with ThreadPoolExecutor(1) as another:
        # Waited for, so that it is repeated on the document as the first commit leaves it.
        second = another.submit(router.patch, {"interfaces": {"right0": {"description": "it waited"}}})
        under_way = wait_for(
            lambda: (now := json_of(router.api.get("/commits")))["queued"] and now,
            timeout_s=60,
            what="a commit that waits for its turn",
        )
        assert under_way["running"]["id"] == first, under_way
        assert [(one["position"], one["author"]) for one in under_way["queued"]] == [(1, "admin")], under_way
        assert router.ended(first)["state"] == "done"
        assert second.result()["state"] == "done"
    config = router.config()["interfaces"]
    assert config.keys() >= loopbacks.keys()
    assert config["right0"]["description"] == "it waited"
