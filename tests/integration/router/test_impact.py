"""What a plan foretells matches the effect of the commit, in cases where the plan once said that nothing is
lost.

::

    lan host ── lan0 [router] wan0 ── BGP neighbor, 1,000 prefixes, hosts behind it
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import IPv4Network
from typing import Any

import pytest

from lab import addressing as at
from lab.frr_daemons import vtysh
from tests.live_lab import LiveLab, json_of, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.root]

WAN, WAN_HOST4, WAN_HOST6 = str(at.WAN.far_v4.ip), str(at.WAN_HOST.far_v4.ip), str(at.WAN_HOST.far_v6.ip)
PATCH = {"Content-Type": "application/merge-patch+json"}
LIMIT = f"/routing/bgp/neighbors/{WAN}/ipv4_unicast/maximum_prefix"
FIRST_LIST = {
    "acls": {
        "lan-in": {"rules": {"10": {"action": "deny", "protocol": "icmp"}, "20": {"action": "permit"}}},
    },
    "interfaces": {"lan0": {"acl_in": ["lan-in"]}},
}


def _session(live: LiveLab) -> dict[str, Any]:
    found: dict[str, Any] = json_of(live.api.get("/state/bgp"))["neighbors"][WAN]
    return found


def _answers(live: LiveLab, host: str) -> bool:
    argv = ["ping", "-n", "-q", "-i", "0.1", "-W", "1", "-c", "3", host]
    output = live.topology.run(live.topology.namespaces.lan, argv, check=False)
    return " 0% packet loss" in output


def _plan(live: LiveLab, patch: dict[str, Any]) -> dict[str, Any]:
    plan: dict[str, Any] = json_of(live.api.patch("/config?dry_run=true", json=patch, headers=PATCH))
    return plan


def _all_exchanged(live: LiveLab) -> bool:
    """A session that has just come up has sent nothing yet; its first routes are sent together."""
    session = _session(live)
    counts = session["families"]["ipv4_unicast"] if session["state"] == "Established" else {}
    is_received = counts.get("prefixes_received") == len(at.WAN_PREFIXES_V4)
    return is_received and counts["prefixes_sent"] >= len(at.CORE_PREFIXES)


@contextmanager
def _committed(live: LiveLab, patch: dict[str, Any]) -> Iterator[None]:
    before = live.agent.status().revision
    json_of(live.api.patch("/config?confirm_s=0", json=patch, headers=PATCH))
    try:
        yield
    finally:
        json_of(live.api.post("/rollback", json={"revision": before, "confirm_s": 0}))


def test_a_limit_below_what_the_neighbor_has_sent(live: LiveLab) -> None:
    wait_until(lambda: _session(live)["state"] == "Established", timeout_s=60, what="the session is up")
    received = _session(live)["families"]["ipv4_unicast"]["prefixes_received"]
    assert received == len(at.WAN_PREFIXES_V4)
    limit = {"routing": {"bgp": {"neighbors": {WAN: {"ipv4_unicast": {"maximum_prefix": 10}}}}}}
    plan = _plan(live, limit)
    assert {step["impact"] for step in plan["steps"]} == {"none"}, "the steps alone disturb nothing"
    (finding,) = plan["result"]["findings"]
    assert (finding["grade"], finding["kind"], finding["path"]) == ("certain", "session", LIMIT)
    assert f"{received:,}" in finding["text"]
    try:
        with _committed(live, limit):
            wait_until(lambda: _session(live)["state"] != "Established", timeout_s=20, what="it closes")
    finally:
        vtysh(live.topology.namespaces.router, f"clear bgp {WAN}")
        wait_until(lambda: _session(live)["state"] == "Established", timeout_s=60, what="it is up again")


def test_routes_that_a_policy_refuses_or_withdraws_are_as_many_as_foretold(live: LiveLab) -> None:
    wait_until(lambda: _all_exchanged(live), timeout_s=60, what="all routes are exchanged")
    before = _session(live)["families"]["ipv4_unicast"]
    lists = {
        "bogons": {"rules": {"40": {"action": "permit", "prefix": "198.18.0.0/19", "le": 32}}},
        "own": {"rules": {"5": {"action": "deny", "prefix": "10.31.0.0/16", "le": 32}}},
    }
    patch = {"routing": {"policy": {"prefix_lists": lists}}}
    certain = [one["text"] for one in _plan(live, patch)["result"]["findings"] if one["grade"] == "certain"]
    refused, withdrawn = certain
    assert "are refused by the new rules: 198.18.0.0/25," in refused
    assert "are withdrawn by the new rules: 10.31." in withdrawn
    fewer = {
        "prefixes_received": int(refused.split(" of ")[0].replace(",", "")),
        "prefixes_sent": int(withdrawn.split(" of ")[0].replace(",", "")),
    }
    assert fewer["prefixes_received"] == sum(
        one.subnet_of(IPv4Network("198.18.0.0/19")) for one in at.WAN_PREFIXES_V4
    )
    assert all(fewer.values())
    with _committed(live, patch):
        expected = {counted: before[counted] - lost for counted, lost in fewer.items()}
        wait_until(
            lambda: _session(live)["families"]["ipv4_unicast"] == expected,
            timeout_s=30,
            what=f"{fewer} of {before} are gone",
        )
    wait_until(
        lambda: _session(live)["families"]["ipv4_unicast"] == before, timeout_s=30, what="all are back"
    )


def test_a_first_list_without_ipv6_rules(live: LiveLab) -> None:
    for host in (WAN_HOST4, WAN_HOST6):
        wait_until(partial(_answers, live, host), timeout_s=60, what=f"{host} answers")
    plan = _plan(live, FIRST_LIST)
    certain = [one for one in plan["result"]["findings"] if one["grade"] == "certain"]
    assert [(one["kind"], one["path"]) for one in certain] == [("traffic", "/interfaces/lan0/acl_in")]
    assert certain[0]["text"].startswith("All IPv6 packets received on lan0")
    with _committed(live, FIRST_LIST):
        assert not _answers(live, WAN_HOST6)
    wait_until(lambda: _answers(live, WAN_HOST6), timeout_s=20, what="IPv6 passes after the rollback")
