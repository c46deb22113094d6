"""A watched commit is rolled back automatically when sessions or traffic get worse, and otherwise stays.

::

    lan host ── lan0 [router] wan0 ── BGP neighbor, 1,000 prefixes, hosts behind it
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from appliance.state.watch import WatchReport, Worsening
from lab import addressing as at
from tests.live_lab import LiveLab, json_of, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.root]

WAN, HOST4, HOST6 = str(at.WAN.far_v4.ip), str(at.WAN_HOST.far_v4.ip), str(at.WAN_HOST.far_v6.ip)
PREFIX = str(at.WAN_HOST_PREFIX_V4)
PATCH = {"Content-Type": "application/merge-patch+json"}
WATCH_S = 15
BLACKHOLE = {"routing": {"static": {PREFIX: {"blackhole": True}}}}
LIMIT = {"routing": {"bgp": {"neighbors": {WAN: {"ipv4_unicast": {"maximum_prefix": 10}}}}}}
FIRST_LIST = {
    "acls": {"lan-in": {"rules": {"20": {"action": "permit", "family": "ipv4"}}}},
    "interfaces": {"lan0": {"acl_in": ["lan-in"]}},
}
_ATTEMPTS = 3
HARMLESS = {"interfaces": {"lan0": {"description": "the LAN"}}, "routing": {"static": {"198.51.100.0/24": {
    "next_hops": [{"address": str(at.CORE.far_v4.ip)}]}}}}  # fmt: skip


@contextmanager
def _traffic(live: LiveLab) -> Iterator[None]:
    """Ten packets a second to a host behind the WAN, of each family."""
    argv = ["ip", "netns", "exec", live.topology.namespaces.lan, "ping", "-n", "-q", "-i", "0.1", "-w", "120"]
    pings = [
        subprocess.Popen([*argv, host], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for host in (HOST4, HOST6)
    ]
    try:
        yield
    finally:
        for ping in pings:
            ping.kill()
            ping.wait()


def _answers(live: LiveLab, host: str) -> bool:
    argv = ["ping", "-n", "-q", "-i", "0.1", "-W", "1", "-c", "3", host]
    output = live.topology.run(live.topology.namespaces.lan, argv, check=False)
    return " 0% packet loss" in output


def _prefixes(live: LiveLab) -> int | None:
    session = json_of(live.api.get("/state/bgp"))["neighbors"][WAN]
    counts: dict[str, int] = session["families"].get("ipv4_unicast", {})
    return counts.get("prefixes_received") if session["state"] == "Established" else None


def _is_well(live: LiveLab) -> bool:
    return _prefixes(live) == len(at.WAN_PREFIXES_V4) and all(_answers(live, one) for one in (HOST4, HOST6))


def _report(live: LiveLab, revision: int) -> WatchReport:
    return WatchReport.model_validate(json_of(live.api.get(f"/revisions/{revision}"))["watch"])


def _committed(live: LiveLab, patch: dict[str, Any], watch_s: int = WATCH_S) -> int:
    """Commit over traffic that the agent has counted for some seconds; returns the revision."""
    before = json_of(live.api.get("/counters"))["interfaces"]["lan0"]["rx_packets"]
    wait_until(
        lambda: json_of(live.api.get("/counters"))["interfaces"]["lan0"]["rx_packets"] > before + 400,
        timeout_s=60,
        what="20 seconds of traffic",
    )
    done = json_of(live.api.patch(f"/config?watch_s={watch_s}&confirm_s=0", json=patch, headers=PATCH))
    assert (done["watch_s"], done["rolls_back"]) == (watch_s, True)
    return int(done["revision"])


def _went_back(live: LiveLab, patch: dict[str, Any]) -> tuple[Worsening, ...]:
    """What got worse, as _rolled_back tells. A commit waits 0.1 s for what is foretold, which a busy machine
    may miss, and the report says so: then it is done again.
    """
    for _ in range(_ATTEMPTS):
        revision = _committed(live, patch)
        worse = _rolled_back(live, revision)
        if _report(live, revision).foretold is not None:
            return worse
        assert {one.foretold for one in worse} == {"unknown"}, worse
    raise AssertionError(f"nothing was foretold in time of {_ATTEMPTS} commits")


def _rolled_back(live: LiveLab, revision: int) -> tuple[Worsening, ...]:
    """The findings after a revision that was rolled back automatically; every surface reports them."""
    wait_until(
        lambda: live.agent.status().revision > revision, timeout_s=WATCH_S + 20, what="it goes back by itself"
    )
    report = _report(live, revision)
    assert (report.state, report.rolled_back_to) == ("rolled_back", revision - 1), report
    back = json_of(live.api.get(f"/revisions/{revision + 1}"))
    assert (back["author"], back["comment"]) == (
        "millrace",
        f"Roll back to revision {revision - 1}: sessions or traffic got worse after revision {revision}",
    )
    wait_until(lambda: _is_well(live), timeout_s=60, what="sessions and traffic are as before")
    alarms = json_of(live.api.get("/alarms"))["items"]
    wait_until(
        lambda: any(one["kind"] == "rolled_back" for one in json_of(live.api.get("/alarms"))["items"]),
        timeout_s=20,
        what=f"the alarm is raised, which is not among {alarms}",
    )
    wait_until(
        lambda: _report(live, revision + 1).state == "as_before",
        timeout_s=60,
        what="the watch says that sessions and traffic are as before",
    )
    return report.counted


def test_a_blackholed_prefix_goes_back(live: LiveLab) -> None:
    with _traffic(live):
        worse = _went_back(live, BLACKHOLE)
    (one,) = [one for one in worse if one.object == PREFIX]
    assert (one.before, one.after, one.foretold) == ("forwarded", "dropped", "certain")


def test_a_closed_session_goes_back_and_is_up_again(live: LiveLab) -> None:
    with _traffic(live):
        worse = _went_back(live, LIMIT)
    (one,) = [one for one in worse if one.object == WAN]
    assert (one.rule, one.foretold, one.path) == (
        "BGP sessions",
        "certain",
        f"/routing/bgp/neighbors/{WAN}",
    )


def test_a_dropped_family_goes_back(live: LiveLab) -> None:
    with _traffic(live):
        worse = _went_back(live, FIRST_LIST)
    assert {"drops", "forwarding"} & {one.rule for one in worse}, worse
    assert {one.foretold for one in worse} == {"certain"}, worse


def test_a_harmless_commit_stays(live: LiveLab) -> None:
    with _traffic(live):
        revision = _committed(live, HARMLESS)
        wait_until(
            lambda: _report(live, revision).state != "watching", timeout_s=WATCH_S + 20, what="the watch ends"
        )
    report = _report(live, revision)
    assert (report.state, report.worsenings, report.surprises) == ("as_before", (), ())
    assert {one.name for one in report.measured} >= {"BGP sessions", "links", "forwarding", "drops", "pings"}
    assert report.not_compared == {}
    assert live.agent.status().revision == revision
    json_of(live.api.post("/rollback", json={"revision": revision - 1, "confirm_s": 0, "watch_s": 0}))
