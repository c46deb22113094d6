"""Pings of many addresses at once, from the data plane's namespace: one packet to each, one wait for all.

ICMP as in RFC 792 and RFC 4443, over raw sockets: the kernel gives each socket a copy of every answer, so
other pings are not disturbed.
"""

from __future__ import annotations

import os
import selectors
import socket
import struct
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import count
from typing import NamedTuple

from appliance.dataplane.namespace import Namespace
from appliance.errors import RouterUnavailable

_FAMILIES = (
    (4, socket.AF_INET, socket.IPPROTO_ICMP, 8, 0),
    (6, socket.AF_INET6, socket.IPPROTO_ICMPV6, 128, 129),
)
_KIND = socket.SOCK_RAW | socket.SOCK_NONBLOCK
_ECHO = struct.Struct("!BBHHH")
_PAYLOAD = b"millrace commit watch"


_IDLE: defaultdict[str, list[Namespace]] = defaultdict(list)
"""By the namespace's name, the threads in it that nobody uses: making one takes as long as a near answer."""


class Target(NamedTuple):
    """An address, and the VRF whose table has the route to it; empty: the default one."""

    address: str
    vrf: str = ""


def ping_all(netns: str, targets: Iterable[Target], within_s: float) -> dict[Target, float]:
    """Round trip times in milliseconds of those that answered in time. Raises RouterUnavailable.

    An address in a VRF unknown to the kernel, or without a route, counts as not answering.
    """
    idle = _IDLE[netns]
    try:
        space = idle.pop()
    except IndexError:
        space = Namespace(netns)
    try:
        return space.run(_ping_all, tuple(targets), within_s)
    except OSError as error:
        raise RouterUnavailable(f"no address can be pinged: {error.strerror or error}") from error
    finally:
        idle.append(space)


@dataclass(frozen=True)
class _Link:
    """The socket of a family and a VRF. Two VRFs may have the same address: each has its own number."""

    socket: socket.socket
    vrf: str
    reply: int
    number: int


def _ping_all(targets: tuple[Target, ...], within_s: float) -> dict[Target, float]:
    answered: dict[Target, float] = {}
    with ExitStack() as stack:
        links: list[_Link] = []
        sent_s: dict[Target, float] = {}
        # Consecutive numbers, from one that another watch is unlikely to use.
        numbers = count(int.from_bytes(os.urandom(2)))
        for vrf in dict.fromkeys(one.vrf for one in targets):
            for version, family, protocol, request, reply in _FAMILIES:
                wanted = [one for one in targets if one.vrf == vrf and _version(one) == version]
                if not wanted:
                    continue
                opened = stack.enter_context(socket.socket(family, _KIND, protocol))
                link = _Link(opened, vrf, reply, next(numbers) & 0xFFFF)
                if vrf and not _bound(opened, vrf):
                    continue
                links.append(link)
                for sequence, target in enumerate(wanted):
                    try:
                        opened.sendto(_message(request, link.number, sequence), (target.address, 0))
                    except OSError:
                        continue  # no route to it, or its own answer is no
                    sent_s[target] = time.monotonic()
        ready = stack.enter_context(selectors.DefaultSelector())
        for link in links:
            ready.register(link.socket, selectors.EVENT_READ, link)
        ends_s = time.monotonic() + within_s
        while len(answered) < len(sent_s) and (left_s := ends_s - time.monotonic()) > 0:
            for key, _ in ready.select(left_s):
                _receive(key.data, sent_s, answered)
    return answered


def _version(target: Target) -> int:
    return ip_address(target.address).version


def _bound(link: socket.socket, vrf: str) -> bool:
    """Whether the socket now sends and receives in the VRF: the kernel may have no VRF of this name."""
    try:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, vrf.encode())
    except OSError:
        return False
    return True


def _receive(link: _Link, sent_s: dict[Target, float], answered: dict[Target, float]) -> None:
    try:
        data, source = link.socket.recvfrom(2048)
    except BlockingIOError:
        return
    if link.socket.family == socket.AF_INET:
        data = data[(data[0] & 0xF) * 4 :]
    target = Target(source[0].partition("%")[0], link.vrf)
    if len(data) < _ECHO.size or target not in sent_s or target in answered:
        return
    kind, _, _, identifier, _ = _ECHO.unpack_from(data)
    if (kind, identifier) == (link.reply, link.number):
        answered[target] = round((time.monotonic() - sent_s[target]) * 1000, 2)


def _message(kind: int, number: int, sequence: int) -> bytes:
    """The kernel fills in the checksum for IPv6."""
    head = _ECHO.pack(kind, 0, 0, number, sequence)
    return _ECHO.pack(kind, 0, _checksum(head + _PAYLOAD), number, sequence) + _PAYLOAD


def _checksum(data: bytes) -> int:
    """RFC 1071."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(word for (word,) in struct.iter_unpack("!H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
