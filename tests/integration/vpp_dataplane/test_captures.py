"""Captures by VPP: real packets through it, read back from the file by another program."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether

from appliance.capture.captures import CaptureFiles
from appliance.capture.vpp import VppSource
from appliance.engine.backend import BackendUnavailable
from appliance.engine.reserve import Room
from appliance.errors import Conflict, NotFound, ValidationFailed
from appliance.state.captures import CaptureWanted
from tests.captures import packets_of, when_ended
from tests.integration.vpp_dataplane.conftest import Router

pytestmark = [pytest.mark.vpp, pytest.mark.root]
OUT = Path("/tmp")


@pytest.fixture
def files(router: Router, tmp_path: Path) -> Iterator[CaptureFiles]:
    made = CaptureFiles(
        tmp_path / "captures", lambda: Room(10**12, 0), lambda _: None, lambda: VppSource(router.backend)
    )
    yield made
    made.close()
    assert list(OUT.glob("millrace-capture-*")) == []


def _vppctl(router: Router, command: str) -> str:
    return router.backend.look(
        vpp=lambda vpp: str(vpp.client.call("cli_inband", cmd=command).reply), linux=lambda _: ""
    )


@pytest.mark.parametrize(
    ("direction", "sources"), [("in", {"10.77.1.2"}), ("out", {"10.77.2.2"}), ("both", None)]
)
def test_packets_of_an_interface_by_direction(
    router: Router, files: CaptureFiles, tmp_path: Path, direction: str, sources: set[str] | None
) -> None:
    wanted = CaptureWanted.model_validate({"interface": "left0", "direction": direction, "filter": "icmp"})
    state = files.start(wanted, "nina")
    began = time.time()
    assert router.ping(router.left, "10.77.2.2", count=6)
    ended = files.stop(state.id)
    assert (ended.state, ended.ended) == ("done", "it was stopped")
    packets = packets_of(files, ended, tmp_path)
    assert {packet[IP].src for packet in packets} == (sources or {"10.77.1.2", "10.77.2.2"})
    assert len(packets) == ended.packets == (12 if direction == "both" else 6)
    assert {packet[ICMP].type for packet in packets} <= {0, 8}
    # By VPP's clock of the day, which it sets from the machine's at its start.
    assert all(abs(float(packet.time) - began) < 60 for packet in packets)


def test_the_number_of_packets_and_of_their_bytes_is_vpps(
    router: Router, files: CaptureFiles, tmp_path: Path
) -> None:
    state = files.start(CaptureWanted(interface="right0", packets=5, snap_bytes=64), "nina")
    assert router.ping(router.left, "10.77.2.2", count=10)
    ended = when_ended(files, state)
    assert (ended.state, ended.packets, ended.ended) == ("done", 5, "the limit of 5 packets was reached")
    packets = packets_of(files, ended, tmp_path)
    assert len(packets) == 5
    assert {len(packet) for packet in packets} == {64}
    assert all(Ether in packet for packet in packets)


def test_a_capture_without_packets_ends_well_and_the_next_one_works(
    router: Router, files: CaptureFiles
) -> None:
    for _ in range(2):
        state = files.start(
            CaptureWanted(interface="left0", seconds=1, direction="out", filter="udp"), "nina"
        )
        ended = when_ended(files, state)
        assert (ended.state, ended.packets, ended.ended) == ("done", 0, "the limit of 1 seconds was reached")


def test_vpp_captures_once_at_a_time_and_what_another_agent_left_isended(
    router: Router, files: CaptureFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = files.start(CaptureWanted(interface="left0"), "nina")
    with pytest.raises(Conflict, match="runs only one at a time"):
        files.start(CaptureWanted(interface="right0"), "nina")
    files.stop(first.id)
    _vppctl(router, "pcap trace rx max 10 file by-hand.pcap")
    try:
        with pytest.raises(Conflict, match="the router's agent did not start"):
            files.start(CaptureWanted(interface="right0"), "nina")
    finally:
        # Without packets it ends, and VPP calls that an error.
        with suppress(BackendUnavailable):
            _vppctl(router, "pcap trace off")
        (OUT / "by-hand.pcap").unlink(missing_ok=True)
    VppSource(router.backend).begin(CaptureWanted(interface="left0"))
    assert router.ping(router.left, "10.77.2.2")
    monkeypatch.setattr("appliance.capture.vpp._ours", set())
    state = files.start(CaptureWanted(interface="right0"), "nina")
    assert files.stop(state.id).state == "done"


def test_what_vpp_has_no_room_or_interface_for(router: Router, files: CaptureFiles) -> None:
    with pytest.raises(ValidationFailed, match="room for 1,860 packets of 9,000 bytes") as raised:
        files.start(CaptureWanted(interface="left0", packets=100_000), "nina")
    assert raised.value.problems[0].pointer == "/packets"
    with pytest.raises(NotFound, match="VPP has no interface nosuch0"):
        files.start(CaptureWanted(interface="nosuch0"), "nina")
    assert files.all() == ()


def test_a_capture_that_vpp_forgot_fails_and_says_so(router: Router, files: CaptureFiles) -> None:
    state = files.start(CaptureWanted(interface="left0"), "nina")
    assert router.ping(router.left, "10.77.2.2")
    _vppctl(router, "pcap trace off")
    ended = when_ended(files, state)
    assert (ended.state, ended.packets) == ("failed", 0)
    assert "no longer captures" in ended.ended
    for left in OUT.glob("millrace-capture-*"):
        left.unlink()
