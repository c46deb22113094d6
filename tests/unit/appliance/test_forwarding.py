"""Where the clocks of forwarding go, computed from recorded counters."""

from __future__ import annotations

from appliance.features.registry import merged
from appliance.state.forwarding import explain
from vpp_config.node_counts import NodeCount, added

_FEATURES = merged("costs", "NODES")


def _full(packets: int, clocks: float) -> NodeCount:
    return NodeCount(packets // 250, packets, int(packets * clocks))


def test_a_full_worker_is_told_with_what_it_spends_most_on() -> None:
    nodes = {
        "memif-input": _full(1_000_000, 40),
        "ethernet-input": _full(1_000_000, 8),
        "acl-plugin-in-ip4-fa": _full(1_000_000, 130),
        "ip4-lookup": _full(1_000_000, 12),
        "memif1/0-tx": _full(1_000_000, 40),
    }
    told = explain(
        {"vpp_main": {"unix-epoll-input": NodeCount(5, 0, 900)}, "vpp_wk_0": nodes}, None, {}, _FEATURES
    )
    (worker,) = told.threads
    assert (worker.thread, worker.packets, worker.packets_per_call) == ("vpp_wk_0", 1_000_000, 250)
    assert (worker.clocks_per_packet, worker.busy) == (230, 1.0)
    assert told.nodes[0].work == "access lists"
    assert told.nodes[0].share == 0.565
    assert "nearly full" in told.words[0]
    assert told.words[1].startswith("Most of that goes to access lists 56%, receiving 17%, sending 17%")


def test_polls_in_vain_are_no_work() -> None:
    nodes = {
        "memif-input": NodeCount(1_000_000, 1000, 40_000_000),
        "ip4-lookup": NodeCount(1000, 1000, 200_000),
    }
    told = explain(
        {"vpp_wk_0": nodes}, 12.0, {"ip4-input: ip4 ttl <= 1": 7, "null-node: blackholed": 2}, _FEATURES
    )
    (worker,) = told.threads
    assert worker.busy < 0.02
    assert worker.clocks_per_packet < 300
    assert "little to do" in told.words[0]
    assert told.words[-1] == ("9 packets dropped since VPP's start, 7 of them for: ip4-input: ip4 ttl <= 1.")
    assert told.seconds == 12.0


def test_a_router_without_packets_says_so() -> None:
    told = explain({"vpp_main": {"unix-epoll-input": NodeCount(5, 0, 900)}}, None, {}, _FEATURES)
    assert (told.threads, told.words) == ((), ("No packet came in.",))


def test_counts_between_two_readings_and_over_a_clearing() -> None:
    before = {"vpp_wk_0": {"ip4-lookup": NodeCount(10, 100, 1000), "ip6-lookup": NodeCount(5, 5, 5)}}
    now = {"vpp_wk_0": {"ip4-lookup": NodeCount(12, 150, 1800), "ip6-lookup": NodeCount(5, 5, 5)}}
    assert added(now, before) == {"vpp_wk_0": {"ip4-lookup": NodeCount(2, 50, 800)}}
    cleared = {"vpp_wk_0": {"ip4-lookup": NodeCount(3, 30, 300)}}
    assert added(cleared, now) == cleared
