"""Captures from the kernel: real packets of a namespace, read back from the file by another program."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, UDP

from appliance.capture.captures import CaptureFiles
from appliance.capture.source import CaptureFailed
from appliance.capture.tcpdump import KernelSource, require_filter
from appliance.engine.reserve import Room
from appliance.errors import RouterUnavailable, ValidationFailed
from appliance.state.captures import CaptureWanted
from tests.captures import packets_of, when_ended
from tests.sizes import at_size

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="makes a network namespace")


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, timeout=30)


@pytest.fixture
def netns() -> Iterator[str]:
    """A namespace whose link lan0 leads into another, where 10.9.0.2 answers."""
    name = f"mrcap{secrets.token_hex(3)}"
    far = f"{name}-far"
    try:
        for one in (name, far):
            _run("ip", "netns", "add", one)
        _run("ip", "-n", name, "link", "add", "lan0", "type", "veth", "peer", "name", "eth0", "netns", far)
        for one, link, address in ((name, "lan0", "10.9.0.1/24"), (far, "eth0", "10.9.0.2/24")):
            _run("ip", "-n", one, "address", "add", address, "dev", link)
            _run("ip", "-n", one, "link", "set", link, "up")
        yield name
    finally:
        for one in (name, far):
            subprocess.run(["ip", "netns", "del", one], check=False, timeout=30)


@pytest.fixture
def files(netns: str, tmp_path: Path) -> Iterator[CaptureFiles]:
    made = CaptureFiles(
        tmp_path / "captures",
        lambda: Room(10**12, 0),
        lambda wanted: require_filter(netns, wanted.filter, wanted.snap_bytes),
        lambda: KernelSource(netns),
    )
    yield made
    made.close()


def _ping(netns: str, count: int, size: int = 56) -> None:
    _run(
        "ip",
        "netns",
        "exec",
        netns,
        "ping",
        "-q",
        "-c",
        str(count),
        "-i",
        "0.01",
        "-s",
        str(size),
        "10.9.0.2",
    )


def _tcpdumps(netns: str) -> dict[int, dict[str, str]]:
    """Status of every tcpdump whose network namespace is this one."""
    wanted = Path(f"/run/netns/{netns}").stat().st_ino
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "ns/net").stat().st_ino != wanted:
                continue
            lines = (process / "status").read_text().splitlines()
        except OSError:
            continue
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        if status["Name"] == "tcpdump":
            found[int(process.name)] = status
    return found


def test_packets_of_the_filter_until_the_number_is_reached(
    files: CaptureFiles, netns: str, tmp_path: Path
) -> None:
    wanted = CaptureWanted(interface="lan0", filter="icmp[icmptype] == icmp-echo", packets=7, snap_bytes=64)
    state = files.start(wanted, "nina")
    _ping(netns, 20, size=400)
    ended = when_ended(files, state)
    assert (ended.state, ended.packets, ended.ended) == ("done", 7, "the limit of 7 packets was reached")
    assert ended.lost == 0
    packets = packets_of(files, ended, tmp_path)
    assert [packet[ICMP].type for packet in packets] == [8] * 7
    assert {(len(packet), packet.wirelen) for packet in packets} == {(64, 14 + 20 + 8 + 400)}
    assert _tcpdumps(netns) == {}


def test_it_runs_without_any_right_and_ends_when_it_is_stopped(
    files: CaptureFiles, netns: str, tmp_path: Path
) -> None:
    state = files.start(CaptureWanted(interface="lan0", filter="icmp"), "nina")
    (status,) = _tcpdumps(netns).values()
    assert "0" not in status["Uid"].split()
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
    _ping(netns, 5)
    end = time.monotonic() + 5
    while files.all()[0].packets < 10 and time.monotonic() < end:
        time.sleep(0.02)
    ended = files.stop(state.id)
    assert (ended.state, ended.ended) == ("done", "it was stopped")
    assert len(packets_of(files, ended, tmp_path)) == ended.packets == 10
    assert _tcpdumps(netns) == {}


@pytest.mark.parametrize(("direction", "count"), [("in", 5), ("out", 5), ("both", 10)])
def test_directions(files: CaptureFiles, netns: str, direction: str, count: int) -> None:
    wanted = CaptureWanted.model_validate({"interface": "lan0", "filter": "icmp", "direction": direction})
    state = files.start(wanted, "nina")
    _ping(netns, 5)
    time.sleep(0.5)
    assert files.stop(state.id).packets == count


def test_seconds_and_bytes_are_limits(files: CaptureFiles, netns: str, tmp_path: Path) -> None:
    began = time.monotonic()
    short = files.start(CaptureWanted(interface="lan0", seconds=1), "nina")
    small = files.start(CaptureWanted(interface="lan0", size_bytes=8192, filter="icmp"), "nina")
    _ping(netns, 30, size=1000)
    ended = when_ended(files, small)
    assert ended.ended == "the limit of 8192 bytes was reached"
    assert 8192 - 1100 < ended.size_bytes <= 8192
    assert len(packets_of(files, ended, tmp_path)) == ended.packets == 7
    assert when_ended(files, short).ended == "the limit of 1 seconds was reached"
    assert 1 <= time.monotonic() - began < 12


def test_what_cannot_be_compiled_names_the_filter(netns: str) -> None:
    for expression, reason in (
        ("tcp porty 179", "syntax error"),
        ("host no-such-host.invalid", "no-such-host.invalid"),
        ("port 99999", "99999"),
        ("-w /tmp/evil", "syntax error"),
        ("tcp; id", "illegal|syntax"),
    ):
        with pytest.raises(ValidationFailed, match=reason) as raised:
            require_filter(netns, expression, 9000)
        assert [problem.pointer for problem in raised.value.problems] == ["/filter"]
    require_filter(netns, "ip6 proto 58 or (vlan 100 and tcp[tcpflags] & tcp-rst != 0)", 9000)
    with pytest.raises(RouterUnavailable, match="namespace cannot be entered"):
        require_filter("nosuch", "tcp", 9000)


def test_an_interface_that_is_not_there_is_told_before_anything_is_kept(
    files: CaptureFiles, netns: str
) -> None:
    with pytest.raises(CaptureFailed, match="nosuch0: No such device exists"):
        files.start(CaptureWanted(interface="nosuch0"), "nina")
    assert files.all() == ()
    assert _tcpdumps(netns) == {}


_DIES = """
import os, sys, pathlib
from appliance.capture.tcpdump import KernelSource
from appliance.state.captures import CaptureWanted
source = KernelSource(sys.argv[1])
source.begin(CaptureWanted(interface="lan0", filter="icmp"))
os.kill(os.getpid(), 9)
"""


def test_nothing_captures_on_when_the_agent_was_killed(netns: str) -> None:
    killed = subprocess.run([sys.executable, "-c", _DIES, netns], check=False, timeout=180)
    assert killed.returncode == -9
    _ping(netns, 3)
    end = time.monotonic() + 5
    while _tcpdumps(netns) and time.monotonic() < end:
        time.sleep(0.05)
    assert _tcpdumps(netns) == {}


BURST = at_size(30_000)
_SENDS = f"""
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range({BURST}):
    sender.sendto(bytes(60), ("10.9.0.2", 9))
"""


def test_a_burst_is_captured_or_counted_as_lost(files: CaptureFiles, netns: str, tmp_path: Path) -> None:
    wanted = CaptureWanted(
        interface="lan0", filter="udp port 9", direction="out", packets=50_000, snap_bytes=64
    )
    _ping(netns, 1)
    state = files.start(wanted, "nina")
    _run("ip", "netns", "exec", netns, sys.executable, "-c", _SENDS)
    time.sleep(1)
    ended = files.stop(state.id)
    assert (ended.state, ended.ended) == ("done", "it was stopped")
    assert ended.lost is not None
    assert ended.packets + ended.lost == BURST
    packets = packets_of(files, ended, tmp_path)
    assert len(packets) == ended.packets > BURST // 30
    assert all(packet[UDP].dport == 9 for packet in packets)
    print(f"captured {ended.packets:,} and lost {ended.lost:,} of {BURST:,} sent as fast as Python sends")
