"""Questions to the kernel about single routes, whose cost does not depend on the size of its table.

Messages are those of ``linux/rtnetlink.h``: RTM_GETROUTE with RTM_F_FIB_MATCH, which answers with the entry
that an address matches. The kernel has no query for a prefix. Its entry is found by querying addresses of the
prefix until one is not covered by a longer prefix; if none is found, the answer says so.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.route_answer import Entry, NextHop, RouteAnswer, Untold

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

PROBES = 32
"""The most addresses queried for one prefix."""
HIDDEN = "every address of it that was asked for belongs to a longer prefix"
DROPPED_BY = {
    -errno.EINVAL: "blackhole",
    -errno.EHOSTUNREACH: "unreachable",
    -errno.EACCES: "prohibit",
}
"""For a route that drops, the kernel answers with the error a sender would get, and without its prefix."""

_RTM_GETROUTE, _RTM_NEWROUTE, _NLMSG_ERROR, _REQUEST = 26, 24, 2, 0x1
_FIB_MATCH = 0x2000
_TIMEOUT_S = 5.0
_BUFFER_BYTES = 1 << 16
_HEADER = struct.Struct("=IHHII")
_ROUTE = struct.Struct("=BBBBBBBBI")  # family dst_len src_len tos table protocol scope type flags
_ATTRIBUTE = struct.Struct("=HH")
_HOP = struct.Struct("=HBBi")  # length flags hops ifindex
_RTA_DST, _RTA_OIF, _RTA_GATEWAY, _RTA_MULTIPATH, _RTA_VIA, _RTA_NH_ID = 1, 4, 5, 9, 18, 30
_KINDS = {1: "unicast", 2: "local", 3: "broadcast", 5: "multicast"}


@dataclass(frozen=True, slots=True)
class Match:
    """The entry an address belongs to."""

    network: Network | None
    """None where the kernel does not say which one it is."""
    entry: Entry


@dataclass(frozen=True, slots=True)
class Dropped:
    """The address belongs to a route that drops; its prefix is unknown."""

    kind: str


Matched = Match | Dropped | None
Ask = Callable[[Address], Matched]


def look_up(destinations: Sequence[str], vrf: str | None = None) -> list[RouteAnswer]:
    """For each prefix its own entry, for each address that of the longest match, in this thread's namespace.

    ``vrf`` is the device of a VRF. Raises DataPlaneError.
    """
    with _Asking(vrf) as asking:
        return [answer(destination, asking.ask) for destination in destinations]


def answer(destination: str, ask: Ask) -> RouteAnswer:
    """The answer for one prefix or address, with as few queries as possible."""
    if "/" in destination:
        return _exact(ip_network(destination), ask)
    matched = ask(ip_address(destination))
    if isinstance(matched, Dropped):
        return Entry(None, matched.kind)
    return None if matched is None else matched.entry


def _exact(network: Network, ask: Ask) -> RouteAnswer:
    """A longer prefix, or one that drops, says nothing about this one: the next address queried is further
    on, in doubling steps.
    """
    dropped: Dropped | None = None
    at, last, step = _first(network), int(network[-1]), 1
    for _ in range(PROBES):
        matched = ask(ip_address(at.to_bytes(network.max_prefixlen // 8, "big")))
        if isinstance(matched, Dropped):
            dropped = matched
        elif matched is None:
            return None
        elif matched.network is None:
            return matched.entry
        elif matched.network.prefixlen < network.prefixlen:
            return None
        elif matched.network.prefixlen == network.prefixlen:
            return matched.entry
        else:
            at = max(at, int(matched.network[-1]))
        at += step
        step *= 2
        if at > last:
            break
    return Entry(None, dropped.kind) if dropped is not None else Untold(HIDDEN)


def _first(network: Network) -> int:
    """The kernel does not accept 0.0.0.0 as a destination."""
    return max(int(network[0]), 1) if network.version == 4 and network.prefixlen < 32 else int(network[0])


class _Asking:
    """One netlink socket, one question at a time."""

    def __init__(self, vrf: str | None) -> None:
        self._out = b"" if vrf is None else _ATTRIBUTE.pack(8, _RTA_OIF) + struct.pack("=i", _index(vrf))
        self._names: dict[int, str | None] = {}
        self._number = 0
        self._socket = socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE
        )
        self._socket.settimeout(_TIMEOUT_S)

    def __enter__(self) -> _Asking:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, address: Address) -> Matched:
        found = self._found(address)
        if isinstance(found, bytes):
            return self._match(found, _family(address))
        if found == -errno.ENETUNREACH:
            return None
        if found in DROPPED_BY:
            return Dropped(DROPPED_BY[found])
        why = errno.errorcode.get(-found, str(-found))
        raise DataPlaneError(f"the kernel does not report its route to {address}: {why}")

    def _found(self, address: Address) -> bytes | int:
        """The route's message without its header, or the kernel's error, negative."""
        body = _ROUTE.pack(_family(address), address.max_prefixlen, 0, 0, 0, 0, 0, 0, _FIB_MATCH)
        body += _ATTRIBUTE.pack(4 + len(address.packed), _RTA_DST) + address.packed
        body += bytes(-len(body) % 4) + self._out
        return self._request(_RTM_GETROUTE, _REQUEST, body)

    def _request(self, kind: int, flags: int, body: bytes) -> bytes | int:
        """The kernel's answer: a route's message, or a number that is 0 on success."""
        self._number += 1
        header = _HEADER.pack(_HEADER.size + len(body), kind, flags, self._number, 0)
        try:
            self._socket.send(header + body)
            while True:
                data = self._socket.recv(_BUFFER_BYTES)
                length, answered, _, number, _ = _HEADER.unpack_from(data)
                if number != self._number:
                    continue  # the late answer to an abandoned question
                if answered == _RTM_NEWROUTE:
                    return data[_HEADER.size : length]
                if answered == _NLMSG_ERROR:
                    return int(struct.unpack_from("=i", data, _HEADER.size)[0])
        except OSError as error:
            raise DataPlaneError(f"the kernel does not answer about a route: {error}") from error

    def _match(self, data: bytes, family: int) -> Match:
        _, length, _, _, _, _, _, kind, _ = _ROUTE.unpack_from(data)
        found = {key: data[start:end] for key, start, end in _attributes(data, _ROUTE.size, len(data))}
        destination = found.get(_RTA_DST, bytes(4 if family == socket.AF_INET else 16))
        # IPv6 routes of one next hop object share the kernel's cached last use, which may name another.
        shared = family == socket.AF_INET6 and _RTA_NH_ID in found
        network = None if shared else ip_network((destination, length))
        if _RTA_MULTIPATH in found:
            hops = tuple(self._hops(found[_RTA_MULTIPATH]))
        elif _RTA_OIF in found:
            hops = (self._hop(found, int.from_bytes(found[_RTA_OIF], "little"), 1),)
        else:
            hops = ()
        return Match(network, Entry(str(network) if network else None, _KINDS.get(kind, str(kind)), hops))

    def _hops(self, data: bytes) -> Iterator[NextHop]:
        at = 0
        while at + _HOP.size <= len(data):
            length, _, weight, interface = _HOP.unpack_from(data, at)
            if length < _HOP.size:
                return
            inside = {
                key: data[start:end] for key, start, end in _attributes(data, at + _HOP.size, at + length)
            }
            yield self._hop(inside, interface, weight + 1)
            at += (length + 3) & ~3

    def _hop(self, found: Mapping[int, bytes], interface: int, weight: int) -> NextHop:
        """RTA_VIA has its family before the address: an IPv4 route through an IPv6 neighbor (RFC 8950)."""
        packed = found.get(_RTA_GATEWAY) or found.get(_RTA_VIA, b"")[2:]
        return NextHop(str(ip_address(packed)) if packed else None, self._name(interface), weight)

    def _name(self, interface: int) -> str | None:
        """None for an interface removed since the kernel answered."""
        if interface not in self._names:
            try:
                self._names[interface] = socket.if_indextoname(interface)
            except OSError:
                self._names[interface] = None
        return self._names[interface]


def _index(vrf: str) -> int:
    try:
        return socket.if_nametoindex(vrf)
    except OSError as error:
        raise DataPlaneError(f"the kernel has no VRF {vrf}") from error


def _family(address: Address) -> int:
    return socket.AF_INET if address.version == 4 else socket.AF_INET6


def _attributes(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Key, and where the value begins and ends."""
    while at + _ATTRIBUTE.size <= end:
        length, key = _ATTRIBUTE.unpack_from(data, at)
        if length < _ATTRIBUTE.size:
            return
        yield key & 0x3FFF, at + _ATTRIBUTE.size, at + length
        at += (length + 3) & ~3
