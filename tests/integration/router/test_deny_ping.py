"""An access list stops the LAN host's ping and counts it; nothing else loses a packet; rollback undoes it.

::

    lan host ── lan0 [router] wan0 ── wan host          ping, denied in the middle of the test
                        core0 ── core host              UDP at the same time, never disturbed
"""

from __future__ import annotations

import pytest

from lab.traffic import Flow
from tests.live_lab import LiveLab, json_of, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.root]

WAN_HOST = "203.0.113.10"
NO_PING = {
    "acls": {
        "no-ping": {
            "rules": {
                "10": {"action": "deny", "protocol": "icmp", "source": "10.10.0.2/32"},
                "20": {"action": "permit"},
                "30": {"action": "permit", "family": "ipv6"},
            }
        }
    },
    "interfaces": {"lan0": {"acl_in": ["no-ping"]}},
    "routing": {"static": {"198.51.100.0/24": {"next_hops": [{"address": "192.0.2.1"}]}}},
}


def _answered(live: LiveLab, count: int = 5, *, wait_s: int = 10) -> int:
    """How many of ``count`` pings from the LAN host to the host behind the WAN are answered.

    A busy machine answers late; the full wait is needed only where no answer is expected.
    """
    argv = ["ping", "-n", "-q", "-i", "0.05", "-W", str(wait_s), "-c", str(count), WAN_HOST]
    output = live.topology.run(live.topology.namespaces.lan, argv, check=False)
    words = next(line for line in output.splitlines() if "received" in line).split(", ")
    return int(next(word for word in words if "received" in word).split()[0])


def _hits(live: LiveLab) -> int:
    acls = json_of(live.api.get("/state/acls"))
    rules = next(acl for acl in acls["acls"] if acl["name"] == "no-ping")["rules"]
    return int(next(rule for rule in rules if rule["sequence"] == 10)["packets"])


def test_deny_ping_by_rest_and_roll_back(live: LiveLab) -> None:
    revision = live.agent.status().revision
    names = live.topology.namespaces
    wait_until(lambda: _answered(live) == 5, timeout_s=20, what="pings pass before the commit")
    with Flow(
        live.directory,
        sender=names.lan,
        receiver=names.core_host,
        destination="10.30.0.10",
        pps=2000,
        seconds=60,
        port=7101,
    ) as flow:
        preview = json_of(
            live.api.patch(
                "/config?dry_run=true", json=NO_PING, headers={"Content-Type": "application/merge-patch+json"}
            )
        )
        assert any("no-ping" in step["summary"] for step in preview["steps"]), preview["steps"]
        assert {step["impact"] for step in preview["steps"]} == {"none"}
        assert live.agent.status().revision == revision, "a dry run changed the router"

        json_of(
            live.api.patch("/config", json=NO_PING, headers={"Content-Type": "application/merge-patch+json"})
        )
        assert _answered(live, wait_s=1) == 0
        wait_until(lambda: _hits(live) >= 5, timeout_s=5, what="the hit counter counts the denied pings")

        json_of(live.api.post("/rollback", json={"revision": revision, "comment": "ping again"}))
        assert _answered(live) == 5
        result = flow.stop()
    assert result.sent > 2000
    assert (result.lost, result.duplicates) == (0, 0), result
    assert "no-ping" not in json_of(live.api.get("/config")).get("acls", {})
