"""VRFs with all their parts together: VPP's tables, the kernel's devices, FRR 10.3 and the feeder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lab import namespaces
from tests.image import bird
from tests.image.artefacts import Artefacts
from tests.image.bird import Bird
from tests.image.fleet import Fleet, Member
from tests.image.kinds import VIRTIO
from tests.image.patience import wait_for, wall_time
from tests.live_lab import json_of
from tests.route_feed import prefix

KIND = VIRTIO
ROUTES = 500
SETTLED_S = 240.0
LEARNED = prefix(ROUTES - 1)
VLAN = {
    "type": "sub_interface",
    "parent": "left0",
    "vlan_id": 77,
    "vrf": "blue",
    "addresses": ["10.77.77.1/24"],
}
BEHIND_LEFT = LEARNED.removesuffix("0/24") + "1"
BEHIND_RIGHT = bird.OSPF_PREFIXES[-1].removesuffix("0/24") + "1"


@pytest.fixture(scope="module")
def member(fleet: Fleet, built: Artefacts) -> Member:
    """A router with VPP that forwards."""
    if built.dataplane != "vpp":
        pytest.skip("no VPP in this image")
    return fleet.member(KIND)


@pytest.fixture
def neighbors(member: Member, directory: Path) -> Iterator[None]:
    """BIRD on both sides, each with an address behind what it announces."""
    hosts = member.hosts
    for host, address in ((hosts.left, BEHIND_LEFT), (hosts.right, BEHIND_RIGHT)):
        namespaces.run_in(host, ["ip", "address", "replace", f"{address}/32", "dev", "lo"])
    with (
        Bird(hosts.left, directory, bird.bgp_neighbor(ROUTES)),
        Bird(hosts.right, directory, bird.ospf_neighbor()),
    ):
        try:
            yield
        finally:
            member.router.put(member.document)


def _in_vrfs(member: Member, left: str, right: str, routing: dict[str, Any]) -> dict[str, Any]:
    """The document with each side in its VRF, and these VRFs' routing."""
    interfaces = {
        name: {**member.document["interfaces"][name], "vrf": vrf}
        for name, vrf in (("left0", left), ("right0", right))
    }
    vrfs = {name: {"routing": of} for name, of in routing.items()}
    others = member.document["interfaces"]
    return {**member.document, "interfaces": {**others, **interfaces}, "vrfs": vrfs}


def _reach_each_other(member: Member) -> bool:
    """By addresses that only BGP and OSPF know."""
    hosts = member.hosts
    return hosts.ping(BEHIND_RIGHT, source=hosts.left) and hosts.ping(BEHIND_LEFT, source=hosts.right)


def _state(member: Member, part: str, **query: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json_of(member.router.api.get(f"/state/{part}", params=query))
    return answer


def _seen(member: Member) -> dict[str, Any]:
    """Sessions, adjacencies and routes of VRF blue."""
    bgp = _state(member, "bgp", vrf="blue")["neighbors"]
    ospf = _state(member, "ospf", vrf="blue")["neighbors"]
    routes = _state(member, "routes", vrf="blue", protocol="bgp", family="ipv4", limit=1000)
    return {
        "bgp": {address: one["state"] for address, one in bgp.items()},
        "ospf": [(one["router_id"], one["interface"], one["full"]) for one in ospf],
        "routes": len(routes["routes"]),
        "differing": [one["prefix"] for one in routes["routes"] if not one["consistent"]],
    }


def test_a_vrf_forwards_by_what_it_learns_and_vpp_killed_has_it_again(
    member: Member, neighbors: None
) -> None:
    router = member.router
    with wall_time(f"a VRF with {ROUTES} BGP routes: from the commit to echoes by learned routes"):
        document = _in_vrfs(member, "blue", "blue", {"blue": {"bgp": bird.BGP, "ospf": bird.OSPF}})
        document["interfaces"]["left0.77"] = VLAN
        router.put(document)
        wait_for(partial(_reach_each_other, member), timeout_s=SETTLED_S, what="echoes by routes of the VRF")
    wanted = {
        "bgp": dict.fromkeys(bird.NEIGHBORS, "Established"),
        "ospf": [("10.77.2.2", "right0", True)],
        "routes": ROUTES,
        "differing": [],
    }
    wait_for(
        lambda: (now := _seen(member)) == wanted or print(now),
        timeout_s=SETTLED_S,
        what=str(wanted),
        pause_s=3,
    )
    # The default VRF has none of it.
    assert _state(member, "bgp")["neighbors"] == {}
    (missing,) = _state(member, "routes", prefix=LEARNED)["routes"] or [{"rib": None, "fib": None}]
    assert missing["rib"] is None
    tables = router.root("vppctl", "show", "ip", "fib", "summary")
    # With the three connected networks.
    length_24 = ROUTES + len(bird.OSPF_PREFIXES) + 3
    assert re.search(rf"blue.*?^ +24 +{length_24} *\r?$", tables, re.DOTALL | re.MULTILINE), tables
    # The router's own packets take the VRF's way.
    for vrf, received in (("blue", 2), (None, 0)):
        job = json_of(
            router.api.post("/tools/ping", json={"destination": BEHIND_LEFT, "count": 2, "vrf": vrf}),
            status=202,
        )
        done = _ended(member, job["id"])
        assert done["result"]["received"] == received, done
    shown = router.root("millrace", "show", "route", "vrf", "blue", LEARNED)
    assert LEARNED in shown
    # All of it is there again; mirrors, with what they are in and on, and sessions outlive VPP.
    sessions, links = bird.sessions(router, vrf="blue"), _links(member)
    assert {links[name]["master"] for name in ("left0", "right0", "left0.77")} == {"blue"}
    with wall_time("VPP killed: to VRFs as before"):
        router.root("systemctl", "kill", "--signal=KILL", "vpp.service")
        wait_for(
            lambda: _reach_each_other(member) and ((now := _seen(member)) == wanted or print(now)),
            timeout_s=SETTLED_S,
            what="the VRF as it was",
            pause_s=3,
        )
    assert bird.are_the_same(sessions, bird.sessions(router, vrf="blue"))
    assert _links(member) == links
    router.put(_in_vrfs(member, "blue", "blue", {"blue": {}}))
    assert "left0.77" not in _links(member)


def _links(member: Member) -> dict[str, Any]:
    """Mirrors and VRFs in the kernel, by name."""
    told = json.loads(member.router.root("ip", "-n", "dataplane", "-j", "-d", "address"))
    return {
        one["ifname"]: {
            "index": one["ifindex"],
            "master": one.get("master"),
            "flags": sorted(one["flags"]),
            "addresses": sorted(f"{address['local']}/{address['prefixlen']}" for address in one["addr_info"]),
        }
        for one in told
    }


def _ended(member: Member, job_id: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def is_over() -> bool:
        found.update(json_of(member.router.api.get(f"/jobs/{job_id}")))
        return found["state"] in ("done", "failed", "cancelled")

    wait_for(is_over, timeout_s=60, what="the end of the job")
    return found


def test_routes_leak_between_vrfs_by_bgp_s_import_and_packets_both_ways(
    member: Member, neighbors: None
) -> None:
    router = member.router
    connected: dict[str, Any] = {"redistribute": {"connected": {}, "ospf": {}}}
    red = {"asn": bird.ROUTER_ASN, "ipv4_unicast": connected | {"import_vrfs": ["blue"]}}
    blue = bird.BGP | {"ipv4_unicast": {"redistribute": {"connected": {}}, "import_vrfs": ["red"]}}
    apart = _in_vrfs(member, "blue", "red", {"blue": {"bgp": bird.BGP}, "red": {"ospf": bird.OSPF}})
    router.put(apart)
    wait_for(
        lambda: any(one["full"] for one in _state(member, "ospf", vrf="red")["neighbors"]),
        timeout_s=SETTLED_S,
        what="a full adjacency in VRF red",
    )
    assert not member.hosts.ping("10.77.2.2")
    together = _in_vrfs(
        member, "blue", "red", {"blue": {"bgp": blue}, "red": {"ospf": bird.OSPF, "bgp": red}}
    )
    router.put({**together, "routing": {"bgp": {"asn": bird.ROUTER_ASN, "router_id": "10.255.0.1"}}})
    wait_for(partial(_reach_each_other, member), timeout_s=SETTLED_S, what="echoes by imported routes")
    (leaked,) = _state(member, "routes", vrf="red", prefix=LEARNED)["routes"]
    assert leaked["consistent"], leaked
    router.put(apart)
    wait_for(lambda: not _reach_each_other(member), timeout_s=SETTLED_S, what="the end of the leak")
