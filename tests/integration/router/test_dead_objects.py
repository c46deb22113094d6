"""Objects that do nothing, on the whole router: foretold, told, and shown by packets.

::

    lan host ── lan0 [router] wan0 ── BGP neighbor, which also has 100.64.7.1
                       core0 ── OSPF neighbor
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lab import addressing as at
from lab.namespaces import run_in
from tests.integration.router.test_bfd import PATCH, WAN, WATCHED, _bgp, _up
from tests.live_lab import LiveLab, json_of, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.root]

FAR, TARGET, PREFIX = "172.16.9.9", "100.64.7.1", "100.64.7.0/24"


@pytest.fixture
def restored(live: LiveLab) -> Iterator[LiveLab]:
    """The lab's document is as it was at the end, and the neighbor answers for the target meanwhile."""
    revision = live.agent.status().revision
    wan = live.topology.namespaces.wan
    run_in(wan, ["ip", "address", "add", f"{TARGET}/32", "dev", "lo"])
    yield live
    run_in(wan, ["ip", "address", "del", f"{TARGET}/32", "dev", "lo"])
    json_of(live.api.post("/rollback", json={"revision": revision, "comment": "as before"}))


def _commit(live: LiveLab, change: dict[str, Any]) -> None:
    json_of(live.api.patch("/config?confirm_s=0", json=change, headers=PATCH))


def _findings(live: LiveLab, change: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json_of(live.api.patch("/config?dry_run=true", json=change, headers=PATCH))[
        "result"
    ]["findings"]
    return found


def _via(*addresses: str) -> dict[str, Any]:
    return {"routing": {"static": {PREFIX: {"next_hops": [{"address": one} for one in addresses]}}}}


def _route(live: LiveLab) -> dict[str, Any]:
    routes = json_of(live.api.get("/state/static-routes"))["routes"]
    return next(one for one in routes if one["name"] == PREFIX)


def _alarms(live: LiveLab) -> set[tuple[str, str]]:
    items = json_of(live.api.get("/alarms?limit=1000"))["items"]
    return {(one["kind"], one["object"]) for one in items}


def _passes(live: LiveLab) -> bool:
    argv = ["ping", "-n", "-q", "-i", "0.2", "-W", "1", "-c", "3", TARGET]
    output = live.topology.run(live.topology.namespaces.lan, argv, check=False)
    return " 0% packet loss" in output


def test_a_static_route_that_nothing_resolves_is_foretold_and_told_and_one_that_is_resolved_forwards(
    restored: LiveLab,
) -> None:
    live = restored
    (finding,) = [one for one in _findings(live, _via(FAR)) if PREFIX in one["text"]]
    assert finding["grade"] == "possible" and "forwards nothing" in finding["text"]
    assert "FRR" in finding["evidence"]
    _commit(live, _via(FAR))
    wait_until(lambda: _route(live)["state"] == "inactive", timeout_s=30, what="the state of the route")
    assert _route(live)["why"] == f"no route leads to {FAR}"
    assert not _passes(live)
    wait_until(
        lambda: ("static_route_inactive", FAR) in _alarms(live), timeout_s=120, what="the route's alarm"
    )
    assert [one["name"] for one in json_of(live.api.get("/state/objects?under=/routing/static"))["objects"]]
    _commit(live, _via(FAR, WAN))
    wait_until(
        lambda: _route(live)["state"] == "partly", timeout_s=30, what="a route by one of two next hops"
    )
    wait_until(lambda: _passes(live), timeout_s=30, what="packets by the next hop that is reached")
    _commit(live, _via(WAN))
    wait_until(lambda: _route(live)["state"] == "working", timeout_s=30, what="a route that works")
    assert _passes(live)
    wait_until(
        lambda: not {kind for kind, _ in _alarms(live)} & {"static_route_inactive", "static_route_partly"},
        timeout_s=60,
        what="no alarm of a route",
    )


def test_an_access_list_that_drops_bfd_names_the_bgp_session_and_closes_it(restored: LiveLab) -> None:
    """The case of the campaign: only the BFD session was named, and BGP fell with it."""
    live = restored
    wait_until(lambda: _bgp(live, WAN)["state"] == "Established", timeout_s=60, what="the BGP session")
    _commit(live, WATCHED)
    wait_until(lambda: WAN in _up(live), timeout_s=60, what="the BFD session")
    rules = {
        "10": {"action": "permit", "protocol": "tcp", "source": f"{WAN}/32"},
        "20": {"action": "permit", "family": "ipv6"},
        "30": {"action": "permit", "protocol": "icmp"},
    }
    drops = {"acls": {"x": {"rules": rules}}, "interfaces": {"wan0": {"acl_in": ["x"]}}}
    (bgp,) = [one for one in _findings(live, drops) if f"The BGP session with {WAN}" in one["text"]]
    assert (bgp["grade"], bgp["kind"]) == ("certain", "session")
    assert "which ends with its BFD session" in bgp["text"]
    _commit(live, drops)
    wait_until(lambda: "BFD" in (_bgp(live, WAN)["last_reset"] or ""), timeout_s=30, what="BGP's end by BFD")
    assert WAN not in _up(live)


def test_a_tunnel_whose_far_end_no_route_leads_to(restored: LiveLab) -> None:
    live = restored
    addresses = str(at.WAN.near_v4.ip)
    tunnel = {"type": "gre", "source": addresses, "destination": FAR, "addresses": ["10.99.0.1/30"]}
    change: dict[str, Any] = {"interfaces": {"gre7": tunnel}}
    named = [one for one in _findings(live, change) if "gre7" in one["text"]]
    assert named and FAR in named[0]["text"]
    _commit(live, change)

    def told() -> dict[str, str]:
        found = json_of(live.api.get("/state/objects?under=/interfaces"))["objects"]
        return {one["name"]: one["why"] for one in found if one["state"] == "inactive"}

    wait_until(lambda: "gre7" in told(), timeout_s=30, what="the state of the tunnel")
    assert told()["gre7"] == f"no route leads to {FAR}"
