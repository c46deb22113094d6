"""Route updates at a steady rate, as a BGP neighbor sends them, or as zebra sends them to the feeder.

Each prefix is announced with one next hop, then with another one, then withdrawn; then this repeats. The
prefixes lie next to the destinations of the traffic, in the same parts of VPP's tables, and cover none of
them.
"""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from pyroute2 import netns

from tests import bmp_stream as bmp
from tests import fpm_stream as fpm
from tests.bench.throughput.routers import SIDES, STATIC, Millrace, side_of
from tests.integration.vpp.harness import run
from tests.route_feed import FAR, NEAR
from tests.soak import bgp_bytes as bgp
from tests.soak.bgp_speaker import Speaker

PREFIXES = 30_000
_FIRST = (48 << 24) + (1 << 8)
_TURN_S = 0.01
_ASN = 65001
_HOPS = ("200.0.0.2", "100.0.0.2")
_GROUPS = {hop: number for number, hop in enumerate(sorted({hop for _, hop in STATIC}), 11)}
_ROUTING = {
    "bgp": {
        "asn": 65000,
        "router_id": "10.255.0.1",
        "ebgp_requires_policy": False,
        "neighbors": {
            FAR: {"remote_asn": _ASN, "connect_retry_s": 1, "ebgp_multihop": 2, "ipv4_unicast": {}}
        },
    }
}


class Churn:
    """Sends updates through a connection, from a thread of its own while :meth:`running`."""

    def __init__(
        self, connection: socket.socket, turns: list[bytes], withdrawn: bytes, per_turn: int
    ) -> None:
        self._connection, self._turns, self._withdrawn = connection, turns, withdrawn
        self._per_turn = per_turn
        self.sent = 0
        self.late_s = 0.0
        """The most that the sending was behind its rate."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Updates are sent throughout the block; then every prefix is withdrawn."""
        stop, failed = threading.Event(), list[OSError]()

        def send() -> None:
            try:
                self._send(stop)
            except OSError as error:
                failed.append(error)

        thread = threading.Thread(target=send)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
        if failed:
            raise RuntimeError(f"updates are no longer taken: {failed[0]}") from failed[0]
        self._connection.sendall(self._withdrawn)

    def _send(self, stop: threading.Event) -> None:
        due_s = time.monotonic()
        for turn in itertools.cycle(self._turns):
            self._connection.sendall(turn)
            self.sent += self._per_turn
            due_s += _TURN_S
            ahead_s = due_s - time.monotonic()
            self.late_s = max(self.late_s, -ahead_s)
            if stop.wait(max(0.0, ahead_s)):
                return


def _chunks(per_turn: int) -> Iterator[range]:
    """Numbers of prefixes, this many at a time."""
    for start in range(0, PREFIXES - per_turn + 1, per_turn):
        yield range(start, start + per_turn)


def _per_turn(rate_ps: int) -> int:
    return max(1, round(rate_ps * _TURN_S))


@contextmanager
def neighbor(router: Millrace, rate_ps: int, document: Mapping[str, Any]) -> Iterator[Churn]:
    """A BGP neighbor with a link into the mirrors' namespace: bgpd, zebra, FPM, the feeder, VPP. The session
    is committed together with ``document``.
    """
    space = f"{router.vpp.prefix}-bgp"
    run("ip", "netns", "add", space)
    try:
        router.frr.add_link("d0", f"{NEAR}/24", peer=(space, "d0"))
        run("ip", "address", "add", f"{FAR}/24", "dev", "d0", namespace=space)
        router.commit({**document, "routing": _ROUTING})
        connection = _session(space)
        drain = threading.Thread(target=_drain, args=(connection,), daemon=True)
        drain.start()
        per_turn = _per_turn(rate_ps)
        try:
            yield Churn(connection, _updates(per_turn), _withdrawals(range(PREFIXES)), per_turn)
        finally:
            connection.shutdown(socket.SHUT_RDWR)
            drain.join()
            connection.close()
    finally:
        run("ip", "netns", "delete", space)


def _session(space: str) -> socket.socket:
    made: list[socket.socket] = []

    def make() -> None:
        netns.setns(space)  # of this thread alone
        made.append(Speaker(NEAR, FAR, _ASN, b"", hold_s=0).established(60))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    if not made:
        raise ConnectionError("bgpd holds no session")
    made[0].settimeout(None)
    return made[0]


def _drain(connection: socket.socket) -> None:
    """Data from bgpd is read and discarded; the thread ends with the connection."""
    with suppress(OSError):  # bgpd may reset it; the sender is told
        while connection.recv(65536):
            pass


def _nlri(numbers: range) -> bytes:
    return b"".join(b"\x18" + ((_FIRST >> 8) + at).to_bytes(3) for at in numbers)


def _updates(per_turn: int) -> list[bytes]:
    turns = []
    for hop in _HOPS:
        attributes = bmp.attribute(1, b"\0") + bmp.as_path([_ASN]) + bmp.next_hop(hop)
        for chunk in _chunks(per_turn):
            turns.append(b"".join(bgp.update(b"", attributes, _nlri(part)) for part in _parts(chunk)))
    return [*turns, *(_withdrawals(chunk) for chunk in _chunks(per_turn))]


def _withdrawals(numbers: range) -> bytes:
    return b"".join(bgp.update(_nlri(part), b"", b"") for part in _parts(numbers))


def _parts(numbers: range, most: int = 500) -> Iterator[range]:
    """As many as fit into a message."""
    for start in range(numbers.start, numbers.stop, most):
        yield range(start, min(start + most, numbers.stop))


@contextmanager
def zebra_played(router: Millrace, rate_ps: int, _document: Mapping[str, Any]) -> Iterator[Churn]:
    """In place of zebra, which is killed: only the feeder and VPP. The router takes no more commits."""
    router.frr.kill("zebra")
    links = {
        side: int(run("ip", "-o", "link", "show", side, namespace=router.vpp.mirror_namespace).split(":")[0])
        for side in SIDES
    }
    zebra = router.feeder.zebra()
    zebra.send(fpm.frame(fpm.next_hop(number, hop, links[side_of(hop)])) for hop, number in _GROUPS.items())
    zebra.send(fpm.frame(fpm.route(prefix, _GROUPS[hop])) for prefix, hop in STATIC)
    router.feeder.barrier()
    per_turn = _per_turn(rate_ps)
    first = [_FIRST + (chunk.start << 8) for chunk in _chunks(per_turn)]
    turns = [fpm.many_ipv4(per_turn, _GROUPS[hop], first=at) for hop in _HOPS for at in first]
    turns += [fpm.many_ipv4_withdrawn(per_turn, first=at) for at in first]
    try:
        yield Churn(zebra.connection, turns, fpm.many_ipv4_withdrawn(PREFIXES, first=_FIRST), per_turn)
    finally:
        zebra.close()
