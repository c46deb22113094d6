"""VPP's text of a trace: packets, nodes, sources and destinations, and receiving interfaces."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from appliance.state.traces import TracedPacket, TraceWanted
from appliance.tracing.frame_filter import Frames, Match
from appliance.tracing.trace_text import arrived_on, packets_of

TEXT = """\
------------------- Start of thread 0 vpp_main -------------------
Packet 1

00:00:02:833392: af-packet-input
  af_packet: hw_if_index 1 rx-queue 0 next-index 4
    block 16:
00:00:02:833405: ethernet-input
  IP4: 8e:2a:69:f7:56:f7 -> 02:76:63:00:00:01
00:00:02:833409: ip4-input
  ICMP: 10.77.1.2 -> 10.77.2.2
    tos 0x00, ttl 64

00:01:02:833500: ip4-drop
    fib:0 adj:13 flow:0x00000000

Packet 2

00:00:03:000001: dpdk-input
  GigabitEthernet0/8/0 rx queue 0
00:00:03:000002: ethernet-input
  ARP: 8e:2a:69:f7:56:f7 -> ff:ff:ff:ff:ff:ff
------------------- Start of thread 1 vpp_wk_0 -------------------
Packet 1

00:00:02:000001: memif-input
  memif: something else
------------------- Start of thread 2 vpp_wk_1 -------------------
No packets in trace buffer
"""


def _packets() -> list[TracedPacket]:
    return list(packets_of(TEXT))


def test_packets_of_each_thread_with_their_nodes() -> None:
    first, second, third = _packets()
    assert [step.node for step in first.steps] == [
        "af-packet-input",
        "ethernet-input",
        "ip4-input",
        "ip4-drop",
    ]
    assert first.steps[0].lines == (
        "  af_packet: hw_if_index 1 rx-queue 0 next-index 4",
        "    block 16:",
    )
    assert first.steps[3].at_s == pytest.approx(62.8335)
    assert (first.summary, first.end, first.dropped) == ("ICMP 10.77.1.2 → 10.77.2.2", "ip4-drop", True)
    assert (second.summary, second.dropped) == ("ARP 8e:2a:69:f7:56:f7 → ff:ff:ff:ff:ff:ff", False)
    assert (third.number, third.thread, third.summary) == (1, "vpp_wk_0", "")


def test_no_packets_and_half_a_text() -> None:
    assert list(packets_of("")) == []
    assert list(packets_of("-- Start of thread 0 vpp_main --\nNo packets in trace buffer\n")) == []
    (one,) = packets_of("Packet 7\nnothing that is known\n")
    assert (one.number, one.steps, one.end) == (7, (), "")


def test_where_a_packet_arrived() -> None:
    by_index, by_name, unknown = _packets()
    assert arrived_on(by_index, [1], []) and not arrived_on(by_index, [2], ["host-nic0"])
    assert arrived_on(by_name, [9], ["GigabitEthernet0/8/0"])
    assert not arrived_on(by_name, [9], ["GigabitEthernet0/9/0"])
    assert not arrived_on(unknown, [9], ["memif0/0"])


MAC = bytes.fromhex("027663000001")
OTHER = bytes.fromhex("027663000002")
GROUP = bytes.fromhex("01005e000005")
SENDER = bytes.fromhex("0a0000000009")


def _frame(
    to: bytes, source: str = "10.77.1.2", destination: str = "10.77.2.2", vlan: int | None = None
) -> bytes:
    parties = ip_address(source).packed + ip_address(destination).packed
    kind = b"\x86\xdd" if ":" in source else b"\x08\x00"
    header = b"\x60" + b"\0" * 7 if ":" in source else b"\x45" + b"\0" * 11
    tag = b"" if vlan is None else b"\x81\x00" + (0xE000 | vlan).to_bytes(2, "big")
    return to + SENDER + tag + kind + header + parties + b"\xff" * 40


def _taken(frames: Frames, frame: bytes) -> bool:
    """As VPP's classifier does it."""

    def fits(match: Match) -> bool:
        assert len(match.mask) == len(match.value) and len(match.mask) % 16 == 0 and len(match.mask) <= 80
        start = frame[: len(match.mask)]
        return bytes(a & b for a, b in zip(start, match.mask, strict=True)) == match.value

    matches = frames.matches()
    return not matches or any(map(fits, matches))


@pytest.mark.parametrize(
    ("frames", "taken", "left_out"),
    [
        (Frames(), [_frame(MAC), _frame(OTHER), _frame(GROUP, vlan=7)], []),
        (Frames(mac=MAC), [_frame(MAC), _frame(GROUP), _frame(MAC, vlan=9)], [_frame(OTHER)]),
        (
            Frames(source="10.77.1.0/24"),
            [_frame(MAC), _frame(OTHER, vlan=7)],
            [_frame(MAC, source="10.77.2.2", destination="10.77.1.2"), _frame(MAC, source="2001:db8::1")],
        ),
        (
            Frames(mac=MAC, source="10.77.1.2", destination="10.77.2.0/24"),
            [_frame(MAC), _frame(GROUP, vlan=3)],
            [_frame(OTHER), _frame(MAC, destination="10.77.3.1"), _frame(MAC, source="10.77.1.3")],
        ),
        (
            Frames(destination="2001:db8:2::/48"),
            [
                _frame(MAC, "2001:db8::1", "2001:db8:2::1"),
                _frame(MAC, "2001:db8::1", "2001:db8:2::1", vlan=4),
            ],
            [_frame(MAC, "2001:db8:2::1", "2001:db8:3::1"), _frame(MAC)],
        ),
        (
            Frames(mac=MAC, vlan_id=100, source="10.77.1.2"),
            [_frame(MAC, vlan=100)],
            [_frame(MAC), _frame(MAC, vlan=101), _frame(MAC, source="10.77.1.3", vlan=100)],
        ),
    ],
)
def test_what_the_classifier_takes(frames: Frames, taken: list[bytes], left_out: list[bytes]) -> None:
    assert all(_taken(frames, frame) for frame in taken)
    assert not any(_taken(frames, frame) for frame in left_out)


def test_a_trace_is_of_one_family_and_of_whole_prefixes() -> None:
    for wrong in (
        {"source": "10.0.0.1", "destination": "2001:db8::1"},
        {"source": "10.0.0.1/24"},
        {"source": "10.0.0.1; clear"},
        {"packets": 501},
        {"seconds": 61},
        {"interface": "a b"},
    ):
        with pytest.raises(ValueError):
            TraceWanted.model_validate({"interface": "wan0", **wrong})
    assert TraceWanted(interface="wan0", source="10.0.0.1").source == "10.0.0.1/32"
