"""A large router with faults: the cost of one check, and what it keeps, stay small."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from appliance.config.load import parse_document
from appliance.engine.view import Seen
from appliance.features.registry import declared
from appliance.health.events import EventLog
from appliance.health.watch import HealthWatch
from appliance.routing import FrrBackend
from tests.bgp_answers import OVER_LIMIT, FrrWithSessions

VLANS, NEIGHBORS = 1000, 200


def test_a_thousand_interfaces_and_two_hundred_neighbors_all_down(tmp_path: Path) -> None:
    vlans = {
        f"e0.{at}": {"type": "sub_interface", "parent": "e0", "vlan_id": at} for at in range(1, VLANS + 1)
    }
    addresses = [f"192.0.2.{at}" for at in range(1, NEIGHBORS + 1)]
    config = parse_document(
        {
            "interfaces": {"e0": {"type": "ethernet", "match": {"device": "nic"}}, **vlans},
            "routing": {
                "bgp": {"asn": 65000, "neighbors": {one: {"remote_asn": 65001} for one in addresses}}
            },
        }
    )
    frr = FrrWithSessions(**dict.fromkeys(addresses, OVER_LIMIT))
    links = {"e0": True, **dict.fromkeys(vlans, False)}
    counters = {name: {"rx_drops": 0, "rx_packets": 0} for name in links}
    plane = SimpleNamespace(links=lambda: links, counters=lambda: {"interfaces": counters})
    engine = SimpleNamespace(revision=1, running_config=config, seen=Seen())
    routing = FrrBackend("none", tmp_path, tmp_path, client=frr)
    router: Any = SimpleNamespace(engine=engine, dataplane=plane, routing=routing)
    checks = [check for found in declared("health", "CHECKS") for check in found]
    log = EventLog(tmp_path)
    watch = HealthWatch(router, log, checks)
    began_s = time.process_time()
    for _ in range(3):
        watch.look()
    took_s = (time.process_time() - began_s) / 3
    found = watch.alarms()
    assert found.unchecked == {}
    assert found.counts == {"major": 500 + 1 + NEIGHBORS}
    assert frr.asked == ["show bgp summary json", "show bgp summary failed json"] * 3
    assert log.usage["used_bytes"] < log.usage["quota_bytes"]
    assert log.usage["events"] == 500 + 1 + NEIGHBORS
    assert took_s < 1.0, "CPU of one look; some 30 ms where nobody else computes"
    print(f"\none look: {took_s * 1000:.0f} ms of CPU")
