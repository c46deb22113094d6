"""The FIB feeder on the appliance: it carries the routes, and may crash."""

from __future__ import annotations

from typing import Any

import pytest

from tests.image.artefacts import Artefacts
from tests.image.fleet import Fleet, Member
from tests.image.kinds import VIRTIO
from tests.image.patience import wait_for
from tests.live_lab import json_of

KIND = VIRTIO
STATIC = "198.51.100.0/24"
UNIT = "millrace-feeder.service"


@pytest.fixture(scope="module")
def member(fleet: Fleet, built: Artefacts) -> Member:
    """A router that forwards."""
    if built.dataplane != "vpp":
        pytest.skip("no VPP in this image")
    return fleet.member(KIND)


def _commit(member: Member, static: Any) -> None:
    member.router.patch({"routing": {"static": {STATIC: static}}})


def _in_vpp(member: Member) -> bool:
    return STATIC in member.router.root("vppctl", "show", "ip", "fib", STATIC)


def test_it_carries_the_routes_and_knows_vpp_s_size(member: Member) -> None:
    state = json_of(member.router.api.get("/state/feeder"))
    assert (state["carrier"], state["frr_connected"], state["vpp_connected"]) == ("feeder", True, True)
    assert state["most_routes"] > 250_000 and state["refusals"] == state["unsupported"] == {}
    name, _, at_boot = member.router.root("cat", "/run/millrace/routes-by-feeder").strip().partition("=")
    assert name == "MOST_ROUTES"
    # The boot knows VPP's size alone; the agent takes off what the features of the document need.
    assert int(at_boot) / 2 < state["most_routes"] <= int(at_boot)
    assert "linux_nl" not in member.router.root("vppctl", "show", "plugins")
    member.hosts.wait_until_forwarding()


def test_its_death_takes_no_route_and_what_goes_meanwhile_goes(member: Member) -> None:
    hop = {"next_hops": [{"address": "10.77.2.2"}]}
    _commit(member, hop)
    wait_for(lambda: _in_vpp(member), timeout_s=60, what="the static route in VPP")
    member.router.root("systemctl", "stop", UNIT)
    try:
        _commit(member, None)
        assert _in_vpp(member), "nobody can have taken it out"
        assert member.hosts.ping("10.77.2.2", count=5)
    finally:
        member.router.root("systemctl", "start", UNIT)
    wait_for(lambda: not _in_vpp(member), timeout_s=120, what="the route leaving VPP")
    member.router.root("systemctl", "kill", "--signal=KILL", UNIT)
    _commit(member, hop)
    wait_for(lambda: _in_vpp(member), timeout_s=120, what="the route, by a feeder that was started again")
    _commit(member, None)
    wait_for(lambda: not _in_vpp(member), timeout_s=60, what="the route leaving VPP")
