"""Mixed traffic between the hosts of a lab, with every packet and every connection counted.

One thread holds sockets in all the hosts' namespaces, so that what is sent and what arrives is counted in one
place. All of it is slow on purpose: what is measured is loss, not speed.
"""

from __future__ import annotations

import ctypes
import os
import selectors
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from lab.namespaces import NAMESPACE_DIR, Namespaces
from tests.soak.traffic_flows import (
    ADDRESSES,
    FORWARDED_PORT,
    FORWARDS,
    PORT,
    Counted,
    Family,
    Flow,
    Host,
    echo_request,
    flows,
)

_PERIOD_S = 0.25
"""Each flow sends once in it, in one of so many turns."""
_TURNS = 4
_CONNECT_EVERY_S, CONNECT_LIMIT_S, STALL_S = 0.75, 2.5, 1.5
_PROBE = 3
"""IP_PMTUDISC_PROBE: packets are never cut up, and no earlier round's path MTU is remembered."""
_NEWNET = 0x40000000
_ECHO_REPLY = {"IPv4": 0, "IPv6": 129}
_ID = 0x4D00
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass
class _Long:
    """One long connection."""

    flow: int
    near: socket.socket
    far: socket.socket | None = None
    is_up: bool = False
    last_s: float = 0.0
    begun_s: float = 0.0


@dataclass
class _Short:
    """One short connection."""

    flow: int
    number: int
    near: socket.socket
    begun_s: float


class Traffic:
    """The traffic of one lab, between entering and leaving."""

    def __init__(self, names: Namespaces, outside: Host) -> None:
        self._files = {"lan": names.lan, "wan": names.wan_host, "core": names.core_host}
        self.flows = flows(outside)
        self.worst_pause_s = 0.0
        """The longest that this thread was kept waiting, or a packet that arrived was under way."""
        self.failure: BaseException | None = None
        self._lock = threading.Lock()
        self._counted = [Counted() for _ in self.flows]
        self._ended = threading.Event()
        self._ready = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._udp: dict[tuple[Host, Family], socket.socket] = {}
        self._raw: dict[tuple[Host, Family], socket.socket] = {}
        self._long: dict[int, _Long] = {}
        self._short: dict[socket.socket, _Short] = {}
        self._thread = threading.Thread(target=self._run, name="mixed traffic", daemon=True)

    def __enter__(self) -> Traffic:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(10)

    def begin(self) -> float:
        """Forget what was counted; the time from which on it is counted anew."""
        self._check()
        with self._lock:
            self._counted = [Counted() for _ in self.flows]
            self.worst_pause_s = 0.0
        return time.monotonic()

    def seen(self) -> dict[Flow, Counted]:
        """What was counted since the begin."""
        self._check()
        with self._lock:
            return {
                flow: Counted(list(one.sent), list(one.arrived), one.resets)
                for flow, one in zip(self.flows, self._counted, strict=True)
            }

    def passing(self, since_s: float, until_s: float) -> frozenset[Flow]:
        """Flows of which something was sent in that time, and all of it arrived."""
        return frozenset(
            flow
            for flow, one in self.seen().items()
            if (both := one.between(since_s, until_s))[0] and not both[1]
        )

    def _check(self) -> None:
        if self.failure is not None:
            raise RuntimeError("the traffic ended") from self.failure

    def _run(self) -> None:
        try:
            self._open()
            self._ready.set()
            self._loop()
        except BaseException as error:
            self.failure = error
        finally:
            self._ready.set()
            for one in [key.fileobj for key in self._selector.get_map().values()]:
                one.close()  # type: ignore[union-attr]
            self._selector.close()

    @contextmanager
    def _inside(self, host: str) -> Iterator[None]:
        """Sockets made here are in the host's namespace: the thread stays in it until it makes another."""
        descriptor = os.open(NAMESPACE_DIR / self._files[host], os.O_RDONLY)
        try:
            if _LIBC.setns(descriptor, _NEWNET):
                raise OSError(ctypes.get_errno(), f"cannot enter {self._files[host]}")
        finally:
            os.close(descriptor)
        yield

    def _open(self) -> None:
        for (host, family), address in ADDRESSES.items():
            kind = socket.AF_INET if family == "IPv4" else socket.AF_INET6
            with self._inside(host):
                udp = socket.socket(kind, socket.SOCK_DGRAM)
                raw = socket.socket(
                    kind,
                    socket.SOCK_RAW,
                    socket.IPPROTO_ICMP if family == "IPv4" else socket.IPPROTO_ICMPV6,
                )
                listener = socket.socket(kind, socket.SOCK_STREAM)
            for one in (udp, raw):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
                level, option = (socket.IPPROTO_IP, 10) if family == "IPv4" else (socket.IPPROTO_IPV6, 23)
                one.setsockopt(level, option, _PROBE)
                one.setblocking(False)
            udp.bind((address, PORT))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, PORT))
            listener.listen(64)
            listener.setblocking(False)
            self._udp[host, family], self._raw[host, family] = udp, raw
            self._selector.register(udp, selectors.EVENT_READ, self._take_udp)
            self._selector.register(raw, selectors.EVENT_READ, self._take_icmp)
            self._selector.register(listener, selectors.EVENT_READ, self._accept)

    def _loop(self) -> None:
        slots = -(-len(self.flows) // _TURNS)
        step_s = _PERIOD_S / _TURNS
        due_s = last_s = time.monotonic()
        for turn in count():
            while (now_s := time.monotonic()) < due_s:
                for key, _ in self._selector.select(due_s - now_s):
                    key.data(key.fileobj)
            if self._ended.is_set():
                return
            self.worst_pause_s = max(self.worst_pause_s, now_s - last_s)
            last_s = now_s
            due_s = max(due_s + step_s, now_s)
            first = turn % _TURNS * slots
            for index in range(first, min(first + slots, len(self.flows))):
                self._send(index, now_s)
            for key, _ in self._selector.select(0):
                key.data(key.fileobj)

    def _send(self, index: int, now_s: float) -> None:
        flow = self.flows[index]
        if flow.protocol in ("udp", "forward"):
            number = self._count(index, now_s)
            head = 28 if flow.family == "IPv4" else 48
            body = struct.pack("!HI", index, number).ljust(flow.size_bytes - head, b".")
            to = (
                (FORWARDS[flow.source][1], FORWARDED_PORT)
                if flow.protocol == "forward"
                else (ADDRESSES[flow.target, flow.family], PORT)
            )
            self._post(self._udp[flow.source, flow.family], body, to)
        elif flow.protocol == "icmp":
            number = self._count(index, now_s)
            body = echo_request(flow, _ID + index, number)
            self._post(self._raw[flow.source, flow.family], body, (ADDRESSES[flow.target, flow.family], 0))
        elif flow.protocol == "tcp":
            self._keep_long(index, now_s)
        else:
            self._begin_short(index, now_s)

    @staticmethod
    def _post(sender: socket.socket, body: bytes, to: tuple[str, int]) -> None:
        # What the sender's own kernel refuses (no neighbor answers) is lost like any other packet; an error
        # that an earlier packet brought back is told once, and this one has to be sent all the same.
        for _ in range(2):
            try:
                sender.sendto(body, to)
            except OSError:
                continue
            return

    def _count(self, index: int, now_s: float) -> int:
        with self._lock:
            one = self._counted[index]
            one.sent.append(now_s)
            one.arrived.append(False)
            # The second of its sending, so that what is late does not count for another round's packet.
            return (int(one.sent[0] * 16) & 0xFFFF) << 16 | len(one.sent) - 1

    def _arrived(self, index: int, number: int) -> None:
        with self._lock:
            one, place = self._counted[index], number & 0xFFFF
            if place < len(one.arrived) and number >> 16 == int(one.sent[0] * 16) & 0xFFFF:
                one.arrived[place] = True
                self.worst_pause_s = max(self.worst_pause_s, time.monotonic() - one.sent[place])

    def _take_udp(self, receiver: socket.socket) -> None:
        for body, _ in _received(receiver):
            index, number = struct.unpack_from("!HI", body)
            if index < len(self.flows):
                self._arrived(index, number)

    def _take_icmp(self, receiver: socket.socket) -> None:
        is_v4 = receiver.family == socket.AF_INET
        for body, _ in _received(receiver):
            told = body[20:32] if is_v4 else body[:12]
            if len(told) < 12 or told[0] != _ECHO_REPLY["IPv4" if is_v4 else "IPv6"]:
                continue
            _, _, _, identity, _, number = struct.unpack("!BBHHHI", told)
            if 0 <= (index := identity - _ID) < len(self.flows):
                self._arrived(index, number)

    def _connected(self, index: int) -> socket.socket:
        flow = self.flows[index]
        kind = socket.AF_INET if flow.family == "IPv4" else socket.AF_INET6
        with self._inside(flow.source):
            near = socket.socket(kind, socket.SOCK_STREAM)
        near.setblocking(False)
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        near.connect_ex((ADDRESSES[flow.target, flow.family], PORT))
        return near

    def _keep_long(self, index: int, now_s: float) -> None:
        one = self._long.get(index)
        if one is None:
            self._long[index] = one = _Long(index, self._connected(index), begun_s=now_s)
            self._selector.register(one.near, selectors.EVENT_READ, self._take_long)
            return
        if not one.is_up:
            try:
                one.near.getpeername()
            except OSError:
                if now_s - one.begun_s > STALL_S:
                    self._end_long(one)
                return
            one.is_up, one.last_s = True, now_s
        if now_s - one.last_s > STALL_S + self.worst_pause_s:
            self._end_long(one)
            return
        # The first byte says what kind of connection it is.
        body = (b"L" + struct.pack("!H", index)).ljust(1200, b".")
        try:
            one.near.send(body)
        except BlockingIOError:
            return
        except OSError:
            self._end_long(one)
            return
        self._count(index, now_s)

    def _end_long(self, one: _Long) -> None:
        """It counts as broken only if it was up."""
        with self._lock:
            self._counted[one.flow].resets += one.is_up
            if not one.is_up:
                counted = self._counted[one.flow]
                counted.sent.append(one.begun_s)
                counted.arrived.append(False)
        self._close(one.near)
        del self._long[one.flow]

    def _take_long(self, near: socket.socket) -> None:
        one = next((one for one in self._long.values() if one.near is near), None)
        if one is None:
            self._close(near)
            return
        try:
            body = near.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            body = b""
        if not body:
            self._end_long(one)
            return
        one.last_s = time.monotonic()
        with self._lock:
            counted = self._counted[one.flow]
            # A connection delivers all or nothing: what is answered proves all that was sent before.
            counted.arrived[:] = [True] * len(counted.arrived)

    def _begin_short(self, index: int, now_s: float) -> None:
        for one in [one for one in self._short.values() if now_s - one.begun_s > CONNECT_LIMIT_S]:
            self._end_short(one, False)
        with self._lock:
            counted = self._counted[index]
            if counted.sent and now_s - counted.sent[-1] < _CONNECT_EVERY_S:
                return
        one = _Short(index, self._count(index, now_s), self._connected(index), now_s)
        self._short[one.near] = one
        self._selector.register(one.near, selectors.EVENT_WRITE, self._speak_short)

    def _speak_short(self, near: socket.socket) -> None:
        try:
            near.send(b"S hello")
        except OSError:
            self._end_short(self._short[near], False)
            return
        self._selector.modify(near, selectors.EVENT_READ, self._take_short)

    def _take_short(self, near: socket.socket) -> None:
        try:
            is_answered = bool(near.recv(64))
        except OSError:
            is_answered = False
        self._end_short(self._short[near], is_answered)

    def _end_short(self, one: _Short, is_well: bool) -> None:
        if is_well:
            self._arrived(one.flow, one.number)
        self._close(one.near)
        self._short.pop(one.near, None)

    def _accept(self, listener: socket.socket) -> None:
        try:
            far, _ = listener.accept()
        except OSError:
            return
        far.setblocking(False)
        far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(far, selectors.EVENT_READ, self._answer)

    def _answer(self, far: socket.socket) -> None:
        try:
            body = far.recv(1 << 16)
            if body:
                far.send(body[:1400])
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._close(far)

    def _close(self, one: socket.socket) -> None:
        try:
            self._selector.unregister(one)
        except (KeyError, ValueError):
            return
        # Ended at once, so that no port waits for packets that may be dropped.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.close()


def _received(receiver: socket.socket) -> Iterator[tuple[bytes, object]]:
    while True:
        try:
            yield receiver.recvfrom(2048)
        except OSError as error:
            if not isinstance(error, BlockingIOError):
                continue
            return
