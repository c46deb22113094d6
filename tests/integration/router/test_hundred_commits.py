"""A hundred commits that do not concern the traffic lose no packet and reset no session.

::

    lan host ── lan0 [router] wan0 ── BGP neighbor ── wan host      10,000 packets/s from left to right
                        core0 ── OSPF neighbor
"""

from __future__ import annotations

from typing import Any

import pytest

from appliance.state.bgp import BGP
from lab.traffic import Flow
from tests.live_lab import LiveLab, json_of

pytestmark = [pytest.mark.integration, pytest.mark.root]

COMMITS = 100
PACKETS_PER_SECOND = 10_000


def _edit(number: int) -> dict[str, Any]:
    """A merge patch of one of four kinds; every round of four leaves other values behind."""
    turn = number // 4
    match number % 4:
        case 0:
            rules = {
                "10": {"action": "deny", "source": f"198.51.100.{turn}/32"},
                "20": {"action": "permit"},
            }
            return {"acls": {"elsewhere": {"rules": rules}}}
        case 1:
            return {"routing": {"static": {f"100.64.{turn}.0/24": {"next_hops": [{"address": "10.20.0.2"}]}}}}
        case 2:
            rule = {"action": "permit", "set": {"local_preference": 100 + turn}}
            return {"routing": {"policy": {"route_maps": {"SPARE": {"rules": {"10": rule}}}}}}
        case _:
            neighbor = {
                "remote_asn": 64999,
                "ebgp_multihop": 5,
                "timers": {"keepalive_s": 10 + turn, "hold_s": 60 + 3 * turn},
                "ipv4_unicast": {},
            }
            return {"routing": {"bgp": {"neighbors": {"198.51.100.254": neighbor}}}}


def test_a_hundred_unrelated_commits_lose_nothing(live: LiveLab) -> None:
    before = live.agent.state(BGP).neighbors["192.0.2.1"]
    revision = live.agent.status().revision
    names = live.topology.namespaces
    with Flow(
        live.directory,
        sender=names.lan,
        receiver=names.wan_host,
        destination="203.0.113.10",
        pps=PACKETS_PER_SECOND,
        seconds=120,
        port=7105,
    ) as flow:
        for number in range(COMMITS):
            response = live.api.patch(
                "/config", json=_edit(number), headers={"Content-Type": "application/merge-patch+json"}
            )
            json_of(response)
        assert flow.sending, "the flow ended before the commits did: they were not made under load"
        result = flow.stop()
    after = live.agent.state(BGP).neighbors["192.0.2.1"]
    json_of(live.api.post("/rollback", json={"revision": revision}))

    assert result.sent > 3 * PACKETS_PER_SECOND
    assert (result.lost, result.duplicates) == (0, 0), result
    # FRR derives it from a rounded uptime: two readings of one session differ by a second.
    assert after.established_epoch_s is not None
    assert before.established_epoch_s is not None
    moved_s = abs(after.established_epoch_s - before.established_epoch_s)
    assert moved_s <= 2, "the BGP session was reset"
