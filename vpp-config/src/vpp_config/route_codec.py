"""``ip_route_lookup_v2_reply`` and ``ip_route_v2_details`` on the wire (``ip.api``), decoded here for speed.

A path has room for 16 MPLS labels, however many it uses, and vpp_papi makes objects of all of them, which
takes eight times as long as the fields that are read. A commit looks up 64 destinations twice, and a walk
through a table reads every route.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

_DETAILS = struct.Struct(">HI")
_LOOKUP_REPLY = struct.Struct(">HIi")
# table, statistics, prefix (family, 16 bytes of address, length), number of paths, source
_ROUTE = struct.Struct(">IIB16sBBB")
# interface, table, RPF id, weight, preference, type, flags, protocol, address, via label, object,
# classify table, number of labels, 16 labels
_PATH = struct.Struct(">IIIBBIII16sIIIB112x")
_IP4 = 0


@dataclass(frozen=True, slots=True)
class _Address:
    """A union: the path's ``proto`` says which member it holds."""

    packed: bytes

    @property
    def ip4(self) -> IPv4Address:
        return IPv4Address(self.packed[:4])

    @property
    def ip6(self) -> IPv6Address:
        return IPv6Address(self.packed)


@dataclass(frozen=True, slots=True)
class _NextHop:
    address: _Address


@dataclass(frozen=True, slots=True)
class _Path:
    sw_if_index: int
    table_id: int
    weight: int
    preference: int
    type: int
    proto: int
    nh: _NextHop


@dataclass(frozen=True, slots=True)
class _Route:
    table_id: int
    prefix: IPv4Network | IPv6Network
    n_paths: int
    src: int
    paths: tuple[_Path, ...]


@dataclass(frozen=True, slots=True)
class RouteDetails:
    """An ``ip_route_v2_details`` message: table, prefix, source, and the destination of each path."""

    route: _Route


@dataclass(frozen=True, slots=True)
class LookupReply:
    """An ``ip_route_lookup_v2_reply`` message; its route has no meaning where ``retval`` is negative."""

    retval: int
    route: _Route


def decode_details(raw: bytes) -> RouteDetails:
    """An ``ip_route_v2_details`` message, including its id and context."""
    return RouteDetails(_route(raw, _DETAILS.size))


def decode_lookup_reply(raw: bytes) -> LookupReply:
    """An ``ip_route_lookup_v2_reply`` message, including its id and context."""
    _, _, retval = _LOOKUP_REPLY.unpack_from(raw)
    return LookupReply(retval, _route(raw, _LOOKUP_REPLY.size))


def _route(raw: bytes, start: int) -> _Route:
    table, _, family, address, length, count, source = _ROUTE.unpack_from(raw, start)
    prefix: IPv4Network | IPv6Network
    if family == _IP4:
        prefix = IPv4Network((address[:4], length), strict=False)
    else:
        prefix = IPv6Network((address, length), strict=False)
    start += _ROUTE.size
    paths = tuple([_path(raw, start + number * _PATH.size) for number in range(count)])
    return _Route(table, prefix, count, source, paths)


def _path(raw: bytes, start: int) -> _Path:
    interface, table, _, weight, preference, kind, _, protocol, address, *_ = _PATH.unpack_from(raw, start)
    return _Path(interface, table, weight, preference, kind, protocol, _NextHop(_Address(address)))
