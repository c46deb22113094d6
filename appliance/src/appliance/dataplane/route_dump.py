"""The kernel's routing table, read without an object for each attribute: a full table has a million routes.

Messages are those of ``linux/rtnetlink.h``: RTM_GETROUTE asked as a dump, strictly, so that the kernel sends
one table only.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from appliance.dataplane.base import DataPlaneError

Family = Literal["ipv4", "ipv6"]

_RTM_GETROUTE, _RTM_NEWROUTE = 26, 24
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_REQUEST_DUMP = 0x0301
_SOL_NETLINK, _STRICT_CHECK = 270, 12
_MAIN = 254
_BUFFER_BYTES = 1 << 20
_TIMEOUT_S = 20.0

_HEADER = struct.Struct("=IHHII")
_ROUTE = struct.Struct("=BBBBBBBBI")  # family dst_len src_len tos table protocol scope type flags
_ATTRIBUTE = struct.Struct("=HH")
_HOP = struct.Struct("=HBBi")  # length flags hops ifindex
_RTA_DST, _RTA_OIF, _RTA_GATEWAY, _RTA_PRIORITY, _RTA_MULTIPATH, _RTA_VIA = 1, 4, 5, 6, 9, 18
_CLONED = 0x200


@dataclass(frozen=True, slots=True)
class Hop:
    """One path: gateway, the index of the interface, and its share of the load."""

    address: str | None
    interface_index: int | None
    weight: int


@dataclass(frozen=True, slots=True)
class KernelRoute:
    """A route of the main table. ``protocol`` and ``kind`` are the kernel's numbers."""

    prefix: str
    hops: tuple[Hop, ...]
    protocol: int
    kind: int
    metric: int


def dump_routes(family: Family) -> Iterator[KernelRoute]:
    """The main table of the namespace the calling thread is in."""
    number = socket.AF_INET6 if family == "ipv6" else socket.AF_INET
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as link:
        link.settimeout(_TIMEOUT_S)
        link.setsockopt(_SOL_NETLINK, _STRICT_CHECK, 1)
        body = _ROUTE.pack(number, 0, 0, 0, _MAIN, 0, 0, 0, 0)
        link.send(_HEADER.pack(_HEADER.size + len(body), _RTM_GETROUTE, _REQUEST_DUMP, 1, 0) + body)
        while True:
            data = link.recv(_BUFFER_BYTES)
            offset = 0
            while offset < len(data):
                length, kind, _, _, _ = _HEADER.unpack_from(data, offset)
                if kind == _NLMSG_DONE:
                    return
                if kind == _NLMSG_ERROR:
                    raise DataPlaneError("the kernel refused to tell its routes")
                if kind == _RTM_NEWROUTE:
                    route = _route(data, offset + _HEADER.size, offset + length, number)
                    if route is not None:
                        yield route
                offset += (length + 3) & ~3


def _route(data: bytes, start: int, end: int, number: int) -> KernelRoute | None:
    _, prefix_length, _, _, _, protocol, _, kind, flags = _ROUTE.unpack_from(data, start)
    if flags & _CLONED:
        return None
    size = 16 if number == socket.AF_INET6 else 4
    destination, metric = bytes(size), 0
    gateway: str | None = None
    interface: int | None = None
    hops: tuple[Hop, ...] = ()
    for key, offset, length in _attributes(data, start + _ROUTE.size, end):
        if key == _RTA_DST:
            destination = data[offset : offset + length]
        elif key == _RTA_OIF:
            interface = int.from_bytes(data[offset : offset + 4], "little")
        elif key == _RTA_PRIORITY:
            metric = int.from_bytes(data[offset : offset + 4], "little")
        elif key in (_RTA_GATEWAY, _RTA_VIA):
            gateway = _address(data, key, offset, length)
        elif key == _RTA_MULTIPATH:
            hops = tuple(_hops(data, offset, offset + length))
    if not hops and interface is not None:
        hops = (Hop(gateway, interface, 1),)
    return KernelRoute(
        f"{socket.inet_ntop(number, destination)}/{prefix_length}", hops, protocol, kind, metric
    )


def _attributes(data: bytes, offset: int, end: int) -> Iterator[tuple[int, int, int]]:
    while offset + 4 <= end:
        length, key = _ATTRIBUTE.unpack_from(data, offset)
        if length < 4:
            return
        yield key & 0x3FFF, offset + 4, length - 4
        offset += (length + 3) & ~3


def _hops(data: bytes, offset: int, end: int) -> Iterator[Hop]:
    while offset + _HOP.size <= end:
        length, _, weight, interface = _HOP.unpack_from(data, offset)
        if length < _HOP.size:
            return
        gateway = None
        for key, inside, size in _attributes(data, offset + _HOP.size, offset + length):
            if key in (_RTA_GATEWAY, _RTA_VIA):
                gateway = _address(data, key, inside, size)
        yield Hop(gateway, interface, weight + 1)
        offset += (length + 3) & ~3


def _address(data: bytes, key: int, offset: int, length: int) -> str:
    """RTA_VIA has its own family before the address: an IPv4 route through an IPv6 neighbor (RFC 8950)."""
    if key == _RTA_VIA:
        offset, length = offset + 2, length - 2
    family = socket.AF_INET6 if length == 16 else socket.AF_INET
    return socket.inet_ntop(family, data[offset : offset + length])
