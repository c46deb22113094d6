"""A static route that is said to do nothing passes no packet, and one that is said to work passes them.

::

    lan host ── lan0 [router] core0 ── core ── core host, which has 198.51.100.10 too
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.live_lab import LiveLab, json_of, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.root]

PREFIX, HOST = "198.51.100.0/24", "198.51.100.10"
NOWHERE, CORE = "172.16.9.9", "10.20.0.2"
MERGE = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture
def live_with_host(live: LiveLab) -> Iterator[LiveLab]:
    names, run = live.topology.namespaces, live.topology.run
    before = live.agent.status().revision
    run(names.core_host, ["ip", "address", "add", f"{HOST}/32", "dev", "lo"])
    run(names.core, ["ip", "route", "add", f"{HOST}/32", "via", "10.30.0.10"])
    yield live
    json_of(live.api.post("/rollback", json={"revision": before, "comment": "as it was"}))
    run(names.core, ["ip", "route", "del", f"{HOST}/32"])
    run(names.core_host, ["ip", "address", "del", f"{HOST}/32", "dev", "lo"])


def _commit(live: LiveLab, static: dict[str, Any]) -> list[str]:
    """What is foretold of the commit."""
    body = {"routing": {"static": static}}
    foretold = json_of(live.api.patch("/config?dry_run=true", json=body, headers=MERGE))
    json_of(live.api.patch("/config", json=body, headers=MERGE))
    return [finding["text"] for finding in foretold["result"]["findings"]]


def _standing(live: LiveLab) -> tuple[str, str]:
    routes = json_of(live.api.get("/state/static-routes"))["routes"]
    return next((one["state"], one["why"]) for one in routes if one["name"] == PREFIX)


def _answers(live: LiveLab) -> bool:
    argv = ["ping", "-n", "-q", "-i", "0.05", "-W", "1", "-c", "3", HOST]
    return "3 received" in live.topology.run(live.topology.namespaces.lan, argv, check=False)


def _is(live: LiveLab, state: str, why: str = "") -> None:
    wait_until(lambda: _standing(live) == (state, why), timeout_s=20, what=f"the route is {state}")
    wait_until(
        lambda: _answers(live) == (state == "working"),
        timeout_s=20,
        what=f"packets do as a route that is {state}",
    )


def test_what_is_said_of_a_static_route_is_what_its_packets_do(live_with_host: LiveLab) -> None:
    live, dead = live_with_host, f"no route leads to {NOWHERE}"
    foretold = _commit(live, {PREFIX: {"next_hops": [{"address": NOWHERE}]}})
    assert any(PREFIX in text and "forwards nothing" in text for text in foretold), foretold
    _is(live, "inactive", dead)
    # A route to the next hop, which comes and goes again.
    _commit(live, {"172.16.9.0/24": {"next_hops": [{"address": CORE}]}})
    _is(live, "working")
    foretold = _commit(live, {"172.16.9.0/24": None})
    assert any(PREFIX in text for text in foretold), foretold
    _is(live, "inactive", dead)
    wait_until(
        lambda: any(PREFIX in str(one) for one in json_of(live.api.get("/alarms"))["items"]),
        timeout_s=60,
        what="an alarm about the route",
    )
    _commit(live, {PREFIX: {"next_hops": [{"address": CORE}]}})
    _is(live, "working")
    # A blackhole works: it does what the document says.
    json_of(live.api.put("/config/routing/static/198.51.100.0~124", json={"blackhole": True}))
    wait_until(lambda: _standing(live) == ("working", ""), timeout_s=20, what="the blackhole is there")
    wait_until(lambda: not _answers(live), timeout_s=20, what="the blackhole drops")
