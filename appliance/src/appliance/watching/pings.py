"""Pings of many addresses at once, from the data plane's namespace: one packet to each, one wait for all.

ICMP as in RFC 792 and RFC 4443, over raw sockets: the kernel hands each a copy of every answer, so that other
pings are not disturbed.
"""

from __future__ import annotations

import os
import selectors
import socket
import struct
import time
from collections.abc import Iterable
from contextlib import ExitStack
from ipaddress import ip_address

from appliance.dataplane.namespace import Namespace
from appliance.errors import RouterUnavailable

_FAMILIES = (
    (4, socket.AF_INET, socket.IPPROTO_ICMP, 8, 0),
    (6, socket.AF_INET6, socket.IPPROTO_ICMPV6, 128, 129),
)
_KIND = socket.SOCK_RAW | socket.SOCK_NONBLOCK
_ECHO = struct.Struct("!BBHHH")
_PAYLOAD = b"millrace commit watch"


def ping_all(netns: str, addresses: Iterable[str], within_s: float) -> dict[str, float]:
    """Round trip times in milliseconds of those that answered in time. Raises RouterUnavailable."""
    space = Namespace(netns)
    try:
        return space.run(_ping_all, tuple(addresses), within_s)
    except OSError as error:
        raise RouterUnavailable(f"no address can be pinged: {error.strerror or error}") from error
    finally:
        space.close()


def _ping_all(addresses: tuple[str, ...], within_s: float) -> dict[str, float]:
    number = int.from_bytes(os.urandom(2))
    answered: dict[str, float] = {}
    with ExitStack() as stack:
        sockets: dict[socket.socket, int] = {}
        sent_s: dict[str, float] = {}
        for version, family, protocol, request, reply in _FAMILIES:
            wanted = [one for one in addresses if ip_address(one).version == version]
            if not wanted:
                continue
            link = stack.enter_context(socket.socket(family, _KIND, protocol))
            sockets[link] = reply
            for sequence, address in enumerate(wanted):
                try:
                    link.sendto(_message(request, number, sequence), (address, 0))
                except OSError:
                    continue  # no route to it, or its own answer is no
                sent_s[address] = time.monotonic()
        ready = stack.enter_context(selectors.DefaultSelector())
        for link, reply in sockets.items():
            ready.register(link, selectors.EVENT_READ, (link, reply))
        ends_s = time.monotonic() + within_s
        while len(answered) < len(sent_s) and (left_s := ends_s - time.monotonic()) > 0:
            for key, _ in ready.select(left_s):
                link, reply = key.data
                _receive(link, reply, number, sent_s, answered)
    return answered


def _receive(
    link: socket.socket, reply: int, number: int, sent_s: dict[str, float], answered: dict[str, float]
) -> None:
    try:
        data, source = link.recvfrom(2048)
    except BlockingIOError:
        return
    if link.family == socket.AF_INET:
        data = data[(data[0] & 0xF) * 4 :]
    address = source[0].partition("%")[0]
    if len(data) < _ECHO.size or address not in sent_s or address in answered:
        return
    kind, _, _, identifier, _ = _ECHO.unpack_from(data)
    if (kind, identifier) == (reply, number):
        answered[address] = round((time.monotonic() - sent_s[address]) * 1000, 2)


def _message(kind: int, number: int, sequence: int) -> bytes:
    """The kernel puts the checksum into those of IPv6."""
    head = _ECHO.pack(kind, 0, 0, number, sequence)
    return _ECHO.pack(kind, 0, _checksum(head + _PAYLOAD), number, sequence) + _PAYLOAD


def _checksum(data: bytes) -> int:
    """RFC 1071."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(word for (word,) in struct.iter_unpack("!H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
