"""Packet traces in VPP: real packets, filtered by VPP's own classifier, and nothing left behind."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.config.load import parse_document
from appliance.errors import Conflict, NotFound
from appliance.state.traces import TraceResult, TraceState, TraceWanted
from appliance.tracing.traces import PacketTraces, TraceFailed
from appliance.tracing.vpp_tracer import VppTracer
from tests.integration.linux.conftest import DOCUMENT, run
from tests.integration.vpp.harness import nic_mac
from tests.integration.vpp_dataplane.conftest import Router, _with_devices

pytestmark = [pytest.mark.vpp, pytest.mark.root]
_SEND_TAGGED = """
import sys
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.sendrecv import sendp
for other in (False, True):
    frame = Ether(dst=sys.argv[1]) / Dot1Q(vlan=7) / IP(dst="10.77.7.2" if other else "10.77.7.1") / UDP()
    sendp([frame] * 3, iface="peer0", verbose=False)
"""


def _tracer(router: Router, document: dict[str, object] = DOCUMENT) -> VppTracer:
    config = parse_document(_with_devices(document))
    return VppTracer(router.backend, lambda: config)


@pytest.fixture
def traces(router: Router, tmp_path: Path) -> Iterator[PacketTraces]:
    made = PacketTraces(tmp_path / "trace.json", lambda: _tracer(router))
    yield made
    made.close()
    assert _left(router) == (0, 0)
    assert not (tmp_path / "trace.json").exists()


def _vppctl(router: Router, command: str) -> str:
    return router.backend.look(
        vpp=lambda vpp: str(vpp.client.call("cli_inband", cmd=command).reply), linux=lambda _: ""
    )


def _left(router: Router) -> tuple[int, int]:
    """Tables of the classifier, and packets traced of some that pass now."""
    tables = router.backend.look(
        vpp=lambda vpp: int(vpp.client.call("classify_table_ids").count), linux=lambda _: 0
    )
    assert router.ping(router.left, "10.77.2.2")
    return tables, _vppctl(router, "show trace").count("\nPacket ")


def _ended(traces: PacketTraces, state: TraceState) -> TraceResult:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        result = traces.result(state.id)
        if result.trace.state != "running":
            return result
        time.sleep(0.05)
    raise AssertionError("the trace did not end")


def test_packets_are_followed_from_where_they_arrive_to_where_they_leave(
    router: Router, traces: PacketTraces
) -> None:
    wanted = TraceWanted(interface="left0", packets=5, source="10.77.1.2", destination="10.77.2.0/24")
    state = traces.start(wanted, "nina")
    # The other direction and other hosts are left out, and nothing is lost.
    assert router.ping(router.left, "10.77.1.1", count=5)
    assert router.ping(router.right, "10.77.1.2", count=5)
    assert router.ping(router.left, "10.77.2.2", count=20)
    result = _ended(traces, state)
    assert (result.trace.state, result.trace.ended) == ("done", "the limit of 5 packets was reached")
    assert [one.number for one in result.packets] == [1, 2, 3, 4, 5]
    for packet in result.packets:
        nodes = [step.node for step in packet.steps]
        assert nodes[0] == "af-packet-input" and "ip4-lookup" in nodes and nodes[-1] == "host-nic1-tx"
        assert packet.summary == "ICMP 10.77.1.2 → 10.77.2.2" and not packet.dropped


def test_only_packets_that_arrive_on_the_interface(router: Router, traces: PacketTraces) -> None:
    state = traces.start(TraceWanted(interface="right0", packets=200, seconds=60), "nina")
    assert router.ping(router.left, "10.77.2.2", count=6)
    assert traces.stop(state.id).ended == "it was stopped"
    packets = traces.result(state.id).packets
    assert len(packets) >= 6
    answers = [one for one in packets if one.summary.startswith("ICMP ")]
    assert {one.summary for one in answers} == {"ICMP 10.77.2.2 → 10.77.1.2"}


def test_ipv6_and_a_packet_that_is_dropped(router: Router, traces: PacketTraces) -> None:
    state = traces.start(TraceWanted(interface="left0", packets=3, destination="2001:db8:99::/48"), "nina")
    assert not router.ping(router.left, "2001:db8:99::1", count=3)
    result = _ended(traces, state)
    assert result.trace.packets == 3 and all(one.dropped for one in result.packets)
    assert {one.end for one in result.packets} == {"ip6-drop"} or {one.end for one in result.packets} == {
        "drop"
    }


def test_a_filter_reaches_into_tagged_frames(router: Router, traces: PacketTraces) -> None:
    """No VLAN is configured, so VPP drops them; a kernel without 802.1Q is enough to send them."""
    state = traces.start(TraceWanted(interface="left0", packets=3, destination="10.77.7.1"), "nina")
    run(router.left, sys.executable, "-c", _SEND_TAGGED, nic_mac(0))
    result = _ended(traces, state)
    assert result.trace.packets == 3
    for packet in result.packets:
        assert packet.dropped and "802.1q vlan 7" in " ".join(packet.steps[1].lines)


def test_a_trace_of_somebody_else_is_left_alone(router: Router, traces: PacketTraces) -> None:
    _vppctl(router, "trace add af-packet-input 5")
    assert router.ping(router.left, "10.77.2.2")
    try:
        with pytest.raises(Conflict, match="did not ask for"):
            traces.start(TraceWanted(interface="left0"), "nina")
        assert "Packet 1" in _vppctl(router, "show trace")
    finally:
        _vppctl(router, "clear trace")


def test_what_a_killed_agent_left_is_taken_away(router: Router, traces: PacketTraces, tmp_path: Path) -> None:
    killed = PacketTraces(tmp_path / "trace.json", lambda: _tracer(router))
    killed._follow = lambda *_: None  # type: ignore[method-assign, assignment]
    killed.start(TraceWanted(interface="left0", source="10.77.1.2"), "nina")
    assert router.ping(router.left, "10.77.2.2")
    assert _left(router)[0] > 0 and "Packet 1" in _vppctl(router, "show trace")
    assert traces.has_left
    # The next one takes it away before it begins, or the agent as it starts.
    traces.stop(traces.start(TraceWanted(interface="right0"), "nina").id)
    assert not traces.has_left


def test_where_nothing_arrives_from_outside(router: Router, traces: PacketTraces) -> None:
    with pytest.raises(NotFound, match="there is no interface nosuch0"):
        traces.start(TraceWanted(interface="nosuch0"), "nina")
    loopback = copy.deepcopy(DOCUMENT)
    loopback["interfaces"]["lo7"] = {"type": "loopback", "addresses": ["10.77.70.1/32"]}
    router.commit(loopback)
    tracer = _tracer(router, loopback)
    with pytest.raises(TraceFailed, match="no packet arrives on lo7 from outside"):
        tracer.begin(TraceWanted(interface="lo7"))
    router.commit(DOCUMENT)
