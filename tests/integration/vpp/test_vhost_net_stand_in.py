"""The stand-in for /dev/vhost-net loses nothing, keeps the order, and sleeps when idle.

    <prefix>-far0                      VPP                     <prefix>-lcp
    peer0 192.0.2.1 --- nic0 [ wan0 192.0.2.2 | mirror wan0 ] --- a socket on 192.0.2.2

VPP hands what is for its own address to the mirror (a tap, through the stand-in), and the mirror's packets
to the wire: every datagram here crosses the stand-in, one way or the other.
"""

from __future__ import annotations

import ctypes
import socket
import struct
import threading
import time
from collections.abc import Iterator
from ipaddress import ip_interface
from pathlib import Path

import pytest

from tests.integration.vpp.harness import PrivateVpp, nic_mac, run
from tests.lab_support import vhost_net_stand_in
from vpp_config import Address, AfPacket, Ethernet, LcpPair, Session, VppState, plan

pytestmark = [
    pytest.mark.vpp,
    pytest.mark.root,
    pytest.mark.skipif(not vhost_net_stand_in.needed(), reason="this kernel has vhost-net"),
]

_PORT = 7000
_PACKETS = 20_000
_RATE_PPS = 10_000
_SIZES = (64, 1400)
_BURST = 50
_SO_RCVBUFFORCE = 33
_CLONE_NEWNET = 0x40000000


@pytest.fixture(scope="module")
def vpp(private_vpp: PrivateVpp) -> Iterator[PrivateVpp]:
    """VPP with a mirror, and a host that knows its way."""
    client = private_vpp.client()
    session = Session(client)
    desired = VppState.of([
        Ethernet("wan0", AfPacket("nic0"), nic_mac(0)),
        LcpPair("wan0", "wan0", private_vpp.mirror_namespace),
        Address("wan0", ip_interface("192.0.2.2/30")),
    ])  # fmt: skip
    for step in plan(desired, session.observe()):
        session.apply(step)
    # This test does not cover the kernel's own queue before the tap, which a busy machine overruns.
    run("ip", "link", "set", "wan0", "txqueuelen", str(_PACKETS), namespace=private_vpp.mirror_namespace)
    far = private_vpp.far(0)
    run("ip", "addr", "replace", "192.0.2.1/30", "dev", "peer0", namespace=far)
    # Both kernels must know their neighbor: packets that wait for its address would be overtaken by later
    # ones.
    run("ping", "-c", "3", "-i", "0.2", "192.0.2.2", namespace=far)
    run("ping", "-c", "3", "-i", "0.2", "192.0.2.1", namespace=private_vpp.mirror_namespace)
    yield private_vpp
    for step in plan(VppState.of(()), session.observe()):
        session.apply(step)
    client.close()


def _socket_in(namespace: str, address: str, port: int) -> socket.socket:
    """A UDP socket that lives in a namespace."""
    made: list[socket.socket] = []

    def make() -> None:
        with Path(f"/var/run/netns/{namespace}").open() as file:
            _setns(file.fileno())
        made.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))

    # Only the thread changes its namespace; it ends here.
    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    (udp,) = made
    udp.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 64 << 20)
    udp.bind((address, port))
    return udp


def _setns(descriptor: int) -> None:
    """What Python 3.12 has as os.setns."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _receive(udp: socket.socket, numbers: list[int]) -> None:
    udp.settimeout(5.0)
    try:
        while len(numbers) < _PACKETS:
            numbers.append(struct.unpack_from("!I", udp.recv(2048))[0])
    except TimeoutError:
        return


def _send(udp: socket.socket, destination: tuple[str, int]) -> None:
    start = time.monotonic()
    for number in range(_PACKETS):
        size = _SIZES[number % len(_SIZES)]
        udp.sendto(struct.pack("!I", number).ljust(size, b"x"), destination)
        if number % _BURST == 0:
            time.sleep(max(0.0, start + number / _RATE_PPS - time.monotonic()))


def test_both_ways_at_once(vpp: PrivateVpp) -> None:
    """10,000 packets/s each way, short and long: all arrive, in order."""
    outside = _socket_in(vpp.far(0), "192.0.2.1", _PORT)
    mirror = _socket_in(vpp.mirror_namespace, "192.0.2.2", _PORT)
    at_outside: list[int] = []
    at_mirror: list[int] = []
    refused_before, refused_outside_before = _refused(vpp, "tap4096-tx"), _refused(vpp, "host-nic0-tx")
    threads = [
        threading.Thread(target=_receive, args=(outside, at_outside)),
        threading.Thread(target=_receive, args=(mirror, at_mirror)),
        threading.Thread(target=_send, args=(outside, ("192.0.2.2", _PORT))),
        threading.Thread(target=_send, args=(mirror, ("192.0.2.1", _PORT))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outside.close()
    mirror.close()
    print(vpp.cli("show", "errors"))
    # On a machine that delays VPP or the stand-in, VPP finds its ring full, and says so. The stand-in loses
    # nothing that it was given.
    assert len(at_mirror) == _PACKETS - (_refused(vpp, "tap4096-tx") - refused_before)
    assert len(at_outside) == _PACKETS - (_refused(vpp, "host-nic0-tx") - refused_outside_before)
    assert len(at_mirror) > 0.9 * _PACKETS
    assert _runs(at_mirror) == _runs(sorted(at_mirror))
    assert _runs(at_outside) == _runs(sorted(at_outside))


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Where numbers follow one another: first and last of each run."""
    starts = [index for index, number in enumerate(numbers) if not index or number != numbers[index - 1] + 1]
    ends = [*(index - 1 for index in starts[1:]), len(numbers) - 1]
    return [(numbers[start], numbers[end]) for start, end in zip(starts, ends, strict=True)]


def _refused(vpp: PrivateVpp, node: str) -> int:
    """Packets that a node of VPP could not pass on."""
    rows = [line.split() for line in vpp.cli("show", "errors").splitlines()]
    return sum(int(row[0]) for row in rows if len(row) > 1 and row[1] == node)


def _thread_count(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def _vpp_pid(vpp: PrivateVpp) -> int:
    return int(vpp.cli("show", "version", "verbose").partition("Current PID:")[2].split()[0])


def test_idle_costs_nothing_and_close_ends_the_thread(vpp: PrivateVpp) -> None:
    pid = _vpp_pid(vpp)
    client = vpp.client()
    session = Session(client)
    state = session.observe()
    without = VppState.of(item for item in state.values() if not isinstance(item, LcpPair))

    def switches() -> int:
        total = 0
        for task in Path(f"/proc/{pid}/task").iterdir():
            if task.name != str(pid):
                rows = (task / "status").read_text().splitlines()
                total += sum(int(row.split()[1]) for row in rows if "ctxt_switches" in row)
        return total

    threads = _thread_count(pid)
    time.sleep(0.5)
    before = switches()
    time.sleep(1.0)
    assert switches() - before < 50
    for _ in range(20):
        for desired in (without, state):
            for step in plan(desired, session.observe()):
                session.apply(step)
    assert _thread_count(pid) == threads
    for step in plan(without, session.observe()):
        session.apply(step)
    assert _thread_count(pid) == threads - 1
    for step in plan(state, session.observe()):
        session.apply(step)
    client.close()
