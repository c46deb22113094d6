"""With VPP, the packets between the hosts really pass through VPP, and the API's figures match VPP's."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from lab.addressing import CORE_PREFIXES, WAN_PREFIXES_V4
from lab.traffic import Flow
from tests.live_lab import LiveLab, json_of, wait_until

pytestmark = [
    pytest.mark.integration,
    pytest.mark.root,
    pytest.mark.vpp,
    pytest.mark.parametrize("live", ["vpp"], indirect=True, scope="session"),
]


def test_every_learned_prefix_is_in_the_fib(live: LiveLab) -> None:
    wanted = {str(prefix) for prefix in (*WAN_PREFIXES_V4, *CORE_PREFIXES)}

    def missing() -> set[str]:
        fib = live.vppctl("show", "ip", "fib", "table", "0")
        return wanted - set(re.findall(r"^(\d+\.\d+\.\d+\.\d+/\d+)\s*$", fib, re.MULTILINE))

    wait_until(lambda: not missing(), timeout_s=30, what="every BGP and OSPF prefix is in show ip fib")


def test_the_kernel_does_not_forward(live: LiveLab) -> None:
    router = live.topology.namespaces.router
    for key in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"):
        assert live.topology.run(router, ["sysctl", "-n", key]).strip() == "0"


def _vpp_rx_packets(live: LiveLab) -> int:
    """VPP's own count of packets received from the LAN, by its command line."""
    text = live.vppctl("show", "interface", "host-nic-lan")
    found = re.search(r"rx packets\s+(\d+)", text)
    assert found is not None, text
    return int(found[1])


def _sample_after(live: LiveLab, time_s: float) -> dict[str, Any]:
    """The first sample of the API taken after ``time_s``."""
    found: list[dict[str, Any]] = []

    def newer() -> bool:
        found[:] = [json_of(live.api.get("/counters"))]
        return bool(found[0]["time"] > time_s)

    wait_until(newer, timeout_s=30, what=f"a sample of counters newer than {time_s}")
    return found[0]


def test_the_counters_of_the_api_are_those_of_vpp(live: LiveLab) -> None:
    names = live.topology.namespaces
    before = _vpp_rx_packets(live)
    with Flow(
        live.directory,
        sender=names.lan,
        receiver=names.wan_host,
        destination="203.0.113.10",
        pps=5000,
        seconds=4,
        port=7102,
    ) as flow:
        result = flow.result()
    assert result.lost == 0
    assert _vpp_rx_packets(live) - before >= result.sent, "the flow did not pass VPP"
    # Two samples on: the next one may have been read while the flow ended, the one after it was not.
    begun = _sample_after(live, time.time())
    shown = _sample_after(live, begun["time"])["interfaces"]["lan0"]["rx_packets"]
    truth = _vpp_rx_packets(live)
    assert abs(shown - truth) <= truth * 0.01
