"""VPP is killed: mirrors and sessions outlive it, and mirrors that the document drops afterwards are removed.

::

    [router] wan0 ── BGP neighbor (IPv4 and IPv6)
             core0 ── OSPF neighbor
"""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
from typing import Any

import httpx
import pytest

from appliance.dataplane.vpp import startup
from appliance.state.commit_options import CommitOptions
from lab import addressing as at
from lab.namespaces import run_in
from lab.traffic import Flow
from tests.live_lab import LiveLab, json_of, wait_until

pytestmark = [
    pytest.mark.integration,
    pytest.mark.root,
    pytest.mark.vpp,
    pytest.mark.parametrize("live", ["vpp"], indirect=True, scope="session"),
]

ADDED = {
    "lo7": {"type": "loopback", "addresses": ["198.51.107.1/32", "2001:db8:107::1/128"]},
    "lo9": {"type": "loopback", "enabled": False, "addresses": ["198.51.109.1/32"]},
    # Its mirror is a device of layer 3.
    "gre7": {
        "type": "gre",
        "source": str(at.WAN.near_v4.ip),
        "destination": str(at.WAN.far_v4.ip),
        "addresses": ["198.51.77.1/30"],
    },
    # Nobody is at its other end: there is no link to wait for.
    "memif7": {"type": "memif", "role": "master", "socket": "dies", "addresses": ["198.51.78.1/30"]},
}
"""VLANs and VRFs outlive VPP as well, where the kernel has them: tests/image/test_feeder.py."""


def _document(live: LiveLab, *, more: bool) -> dict[str, Any]:
    document: dict[str, Any] = copy.deepcopy(live.agent.config()["document"])
    for name in ADDED:
        document["interfaces"].pop(name, None)
    if more:
        document["interfaces"].update(ADDED)
    return document


def _mirrors(live: LiveLab) -> dict[str, Any]:
    """Links of the router's namespace, with all that must not change while VPP is away."""
    argv = ["ip", "-n", live.topology.namespaces.router, "-j", "-d", "address"]
    told = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    return {
        one["ifname"]: (
            one["ifindex"],
            one.get("address"),
            one["mtu"],
            one.get("master"),
            sorted(one["flags"]),
            sorted(f"{address['local']}/{address['prefixlen']}" for address in one["addr_info"]),
        )
        for one in told
        if one["ifname"] != "lo"
    }


def _established(live: LiveLab) -> dict[str, int | None]:
    """When each neighbor's session came up; None where it is down."""
    neighbors = json_of(live.api.get("/state/bgp"))["neighbors"]
    return {
        name: one["established_epoch_s"] if one["state"] == "Established" else None
        for name, one in neighbors.items()
    }


def _are_the_same(before: dict[str, int | None], now: dict[str, int | None]) -> bool:
    """No session went down. FRR computes the times from the present time at each query, and rounds them."""
    return before.keys() == now.keys() and all(
        came is not None and was is not None and came - was <= 2
        for came, was in ((now[name], before[name]) for name in before)
    )


def _adjacencies(live: LiveLab) -> dict[str, int]:
    """How long each OSPF neighbor has been full, in ms."""
    neighbors = json_of(live.api.get("/state/ospf"))["neighbors"]
    return {one["router_id"]: one["uptime_ms"] for one in neighbors if one["full"]}


def _pairs(live: LiveLab) -> int:
    try:
        return live.vppctl("show", "lcp").count("itf-pair")
    except subprocess.CalledProcessError:
        return 0


def _as_committed(live: LiveLab) -> bool:
    try:
        status = json_of(live.api.get("/status"))
        parts = json_of(live.api.get("/state/health"))["parts"]
    except (httpx.HTTPError, AssertionError):
        return False
    return not status["drift"] and all(parts[name]["state"] == "up" for name in ("vpp", "feeder"))


def _kill_vpp(live: LiveLab, pairs: int) -> None:
    """Also wait until the new process has everything."""
    before = live.supervisorctl("pid", "vpp")
    os.kill(int(before), signal.SIGKILL)
    wait_until(
        lambda: live.supervisorctl("pid", "vpp") not in (before, "0\n"), timeout_s=60, what="another VPP"
    )
    wait_until(lambda: _pairs(live) == pairs, timeout_s=60, what="the mirrors", instead=lambda: _pairs(live))
    wait_until(lambda: _as_committed(live), timeout_s=120, what="a router as it was committed")


def _passes(live: LiveLab) -> bool:
    names = live.topology.namespaces
    flow = Flow(
        live.directory, sender=names.lan, receiver=names.wan_host, destination=str(at.WAN_HOST.far_v4.ip),
        pps=100, seconds=1, port=7221,
    )  # fmt: skip
    with flow:
        return flow.result().received > 0


def test_sessions_outlive_vpp_and_mirrors_leave_when_the_document_says_so(live: LiveLab) -> None:
    at_first = _document(live, more=False)
    live.agent.commit(_document(live, more=True), CommitOptions(author="test"))
    wait_until(lambda: len(_adjacencies(live)) == 1, timeout_s=60, what="the OSPF neighbor")
    pairs = _pairs(live)
    assert pairs == len(live.agent.config()["document"]["interfaces"])
    mirrors, sessions, adjacencies = _mirrors(live), _established(live), _adjacencies(live)
    assert len(sessions) == 2 and None not in sessions.values()

    # Known at once, from a commit's own reading.
    larger = _document(live, more=True)
    larger["dataplane"] = {**larger.get("dataplane", {}), "main_heap_mb": 700}
    planned = live.agent.plan(larger)["steps"]
    assert sum(step["summary"].startswith("take up") for step in planned) == pairs, planned

    for _ in range(2):
        _kill_vpp(live, pairs)
        assert _mirrors(live) == mirrors
        assert _are_the_same(sessions, _established(live))
        assert all(adjacencies[name] < uptime_ms for name, uptime_ms in _adjacencies(live).items())
        assert _adjacencies(live).keys() == adjacencies.keys()
    wait_until(lambda: _passes(live), timeout_s=30, what="packets by a learned route")

    # A commit that restarts VPP, and back.
    heap_mb = startup.read((live.directory / "vpp-startup.conf").read_text()).main_heap_mb
    scale = json_of(live.api.get("/state/dataplane"))["chosen_route_scale"]
    for wanted_mb in (heap_mb + 64, heap_mb):
        document = _document(live, more=True)
        # A heap by hand makes ``auto`` the standard scale, and the last commit would change the rest back.
        sizes = {"main_heap_mb": wanted_mb, "route_scale": scale}
        document["dataplane"] = {**document.get("dataplane", {}), **sizes}
        live.agent.commit(document, CommitOptions(author="test"))
        assert startup.read((live.directory / "vpp-startup.conf").read_text()).main_heap_mb == wanted_mb
        assert _mirrors(live) == mirrors
        assert _are_the_same(sessions, _established(live))
        assert _adjacencies(live).keys() == adjacencies.keys()
    assert run_in(live.topology.namespaces.wan, ["ping", "-c", "1", "-W", "5", str(at.WAN.near_v4.ip)])

    live.agent.commit(at_first, CommitOptions(author="test"))
    left = _mirrors(live)
    assert not left.keys() & ADDED.keys()
    assert {name: left[name] for name in left} == {name: mirrors[name] for name in left}
    assert _are_the_same(sessions, _established(live))
