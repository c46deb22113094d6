"""Health on the whole router: a fault raises an alarm with its reason, which is cleared after the repair.

::

    [router] wan0 ── eth0 BGP neighbor (IPv4 and IPv6)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lab import addressing as at
from lab.namespaces import run_in
from tests.live_lab import LiveLab, json_of, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.root]

WAN, WAN6 = str(at.WAN.far_v4.ip), str(at.WAN.far_v6.ip)


def _alarms(live: LiveLab) -> dict[tuple[str, str], dict[str, Any]]:
    found = json_of(live.api.get("/alarms?limit=1000"))["items"]
    return {(one["kind"], one["object"]): one for one in found}


def _wait_until_healthy(live: LiveLab) -> None:
    """Without alarms and with no watch under way, which would attribute the test's actions to a commit."""
    wait_until(
        lambda: _is_healthy(live) and json_of(live.api.get("/status"))["watch"] is None,
        timeout_s=240,
        what="a router without alarms or a watch",
        instead=lambda: json_of(live.api.get("/alarms?limit=1000")),
    )


def _is_healthy(live: LiveLab) -> bool:
    answer = json_of(live.api.get("/alarms"))
    return answer["total"] == 0 and answer["unchecked"] == {} and answer["looked_s_ago"] is not None


def _bgp(live: LiveLab) -> dict[str, Any]:
    found: dict[str, Any] = json_of(live.api.get("/state/bgp"))["neighbors"][WAN]
    return found


@contextmanager
def _unplugged(live: LiveLab) -> Iterator[None]:
    """The neighbor's end of the link to wan0 is down."""
    wan = live.topology.namespaces.wan
    run_in(wan, ["ip", "link", "set", "eth0", "down"])
    try:
        yield
    finally:
        run_in(wan, ["ip", "link", "set", "eth0", "up"])
        run_in(wan, ["ip", "address", "replace", str(at.WAN.far_v6), "dev", "eth0", "nodad"])


def test_a_neighbor_that_is_gone_is_an_alarm_until_it_is_back(live: LiveLab) -> None:
    _wait_until_healthy(live)
    before = json_of(live.api.get("/events"))["total"]
    with _unplugged(live):
        wait_until(lambda: ("bgp_down", WAN) in _alarms(live), timeout_s=240, what="the alarm of the session")
        one = _alarms(live)["bgp_down", WAN]
        assert one["severity"] == "major" and one["checked"] and "FRR: " in one["evidence"]["reason"]
        state = _bgp(live)
        assert state["down_reason"] and state["down_advice"] and state["down_ms"] is not None
        status = json_of(live.api.get("/status"))["alarms"]
        assert status["worst"] == "major" and status["counts"]["major"] >= 1
        if live.dataplane == "linux":
            assert ("link_down", "wan0") in _alarms(live)
    _wait_until_healthy(live)
    assert _bgp(live)["down_reason"] is None
    events = json_of(live.api.get(f"/events?object={WAN}&limit=2"))["items"]
    assert [event["event"] for event in events] == ["cleared", "raised"]
    assert json_of(live.api.get("/events"))["total"] > before


def test_a_session_is_cleared_by_an_operator_and_comes_back(live: LiveLab) -> None:
    wait_until(lambda: _bgp(live)["state"] == "Established", timeout_s=240, what="the BGP session")
    wait_until(lambda: _bgp(live)["uptime_ms"] > 2000, timeout_s=60, what="a session that stands")
    soft = json_of(live.api.post("/actions/clear-bgp", json={"neighbor": WAN, "soft": "in"}))
    assert "asked for its routes again" in soft["done"][0]
    assert _bgp(live)["uptime_ms"] > 2000
    json_of(live.api.post("/actions/clear-bgp", json={"neighbor": WAN}))
    wait_until(
        lambda: (now := _bgp(live))["state"] != "Established" or now["uptime_ms"] < 2000,
        timeout_s=30,
        what="the session to be set up anew",
    )
    wait_until(lambda: _bgp(live)["state"] == "Established", timeout_s=120, what="the BGP session again")
