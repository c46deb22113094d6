"""Sessions that the kernel tracks and translates, called inside the namespace.

Messages are those of ``linux/netfilter/nfnetlink_conntrack.h``: IPCTNL_MSG_CT_GET as a dump, and
IPCTNL_MSG_CT_DELETE. To read a hundred thousand sessions in about a second, only the needed fields are
decoded.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.netlink import ACK, DONE, DUMP, ERROR, attributes, error_of, message, messages

_NETFILTER = 12
_NEW, _GET, _DELETE, _, _GET_COUNTS = (1 << 8 | number for number in range(5))
_COUNTED_DROP, _COUNTED_EARLY_DROP = 10, 11
_INET, _ANY = (struct.pack("!BBH", family, 0, 0) for family in (socket.AF_INET, socket.AF_UNSPEC))
_ORIG, _REPLY, _STATUS, _PROTOINFO, _TIMEOUT, _COUNTERS_ORIG, _COUNTERS_REPLY = 1, 2, 3, 4, 7, 9, 10
_SOURCE_NAT, _DESTINATION_NAT = 1 << 4, 1 << 5
_ICMP, _TCP = 1, 6
_TIMEOUT_S = 10.0
_BUFFER_BYTES = 1 << 18
_COUNT, _LIMIT = (Path(f"/proc/sys/net/netfilter/nf_conntrack_{name}") for name in ("count", "max"))
_BATCH = 64
_TCP_STATES = (
    *("none", "syn_sent", "syn_received", "established", "fin_wait", "close_wait", "last_ack", "time_wait"),
    *("close", "syn_sent"),
)


@dataclass(frozen=True, slots=True)
class End:
    """Addresses and ports of one direction as 32-bit and 16-bit numbers; for ICMP both ports are its id."""

    source: int
    destination: int
    source_port: int
    destination_port: int


@dataclass(frozen=True, slots=True)
class Tracked:
    """A translated session."""

    protocol: int
    original: End
    """As the initiator sent it."""
    reply: End
    """As answers arrive."""
    status: int
    expires_s: int
    tcp_state: str
    key: bytes
    """The kernel's key to it: the attribute of the original direction."""
    packets: int
    """Of both directions; 0 where the kernel does not count (net.netfilter.nf_conntrack_acct)."""
    octets: int

    @property
    def source_translated(self) -> bool:
        """Its source address is translated."""
        return bool(self.status & _SOURCE_NAT)

    @property
    def destination_translated(self) -> bool:
        """Its destination address is translated."""
        return bool(self.status & _DESTINATION_NAT)


def opened() -> socket.socket:
    """A socket for the namespace it was opened in, whichever thread reads it later."""
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER)
    link.settimeout(_TIMEOUT_S)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * _BUFFER_BYTES)
    return link


def translated(link: socket.socket) -> Iterator[Tracked]:
    """Every translated session, in no particular order. Raises DataPlaneError.

    A session that begins or ends during the reading may be missing.
    """
    for payload in _dump(link, _GET, _INET):
        if (one := _decode(payload)) is not None:
            yield one


def _dump(link: socket.socket, asked: int, about: bytes) -> Iterator[bytes]:
    """The content of each message of the answer."""
    link.send(message(asked, DUMP, 1, about))
    while True:
        for kind, payload in messages(_receive(link)):
            if kind == DONE:
                return
            if kind == ERROR:
                raise DataPlaneError(f"cannot read the sessions: {os.strerror(error_of(payload))}")
            yield payload


def count() -> int:
    """Tracked connections of the namespace, translated or not."""
    return _number(_COUNT)


def limit() -> int:
    """The most connections the kernel tracks in one namespace; 0 if it does not say."""
    return _number(_LIMIT)


def dropped() -> tuple[int, int]:
    """In this namespace, packets dropped because the table had no place for their connection, and connections
    ended early to make room. Raises DataPlaneError.
    """
    found = {_COUNTED_DROP: 0, _COUNTED_EARLY_DROP: 0}
    with opened() as link:
        for payload in _dump(link, _GET_COUNTS, _ANY):
            for kind, start, _ in attributes(payload, 4, len(payload)):
                if kind in found:
                    found[kind] += int(struct.unpack_from("!I", payload, start)[0])
    return found[_COUNTED_DROP], found[_COUNTED_EARLY_DROP]


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except OSError:
        return 0


def end(matching: Callable[[Tracked], bool], open_link: Callable[[], socket.socket] = opened) -> int:
    """Forget the translated sessions that match; returns how many there were. Raises DataPlaneError.

    ``open_link`` opens a socket in the namespace, for a call from outside it.
    """
    with open_link() as link:
        found = [one.key for one in translated(link) if matching(one)]
    with open_link() as link:
        return sum(_delete(link, found[start : start + _BATCH]) for start in range(0, len(found), _BATCH))


def _delete(link: socket.socket, keys: Sequence[bytes]) -> int:
    for number, key in enumerate(keys):
        link.send(message(_DELETE, ACK, number, _INET + key))
    left, done = len(keys), 0
    while left:
        for kind, payload in messages(_receive(link)):
            if kind == ERROR:
                left -= 1
                code = error_of(payload)
                if code not in (0, errno.ENOENT):
                    raise DataPlaneError(f"cannot end a session: {os.strerror(code)}")
                done += code == 0
    return done


def _receive(link: socket.socket) -> bytes:
    try:
        return link.recv(_BUFFER_BYTES)
    except TimeoutError:
        raise DataPlaneError(f"the kernel did not tell of its sessions within {_TIMEOUT_S:.0f} s") from None
    except OSError as error:
        raise DataPlaneError(f"cannot read the sessions: {error.strerror}") from error


def _decode(payload: bytes) -> Tracked | None:
    places = {kind: (start, end) for kind, start, end in attributes(payload, 4, len(payload))}
    if _STATUS not in places or _ORIG not in places or _REPLY not in places:
        return None
    status = int(struct.unpack_from("!I", payload, places[_STATUS][0])[0])
    if not status & (_SOURCE_NAT | _DESTINATION_NAT):
        return None
    start, stop = places[_ORIG]
    original, reply = _end(payload, start, stop), _end(payload, *places[_REPLY])
    if original is None or reply is None:
        return None
    protocol = original[0]
    packets = octets = 0
    for direction in (_COUNTERS_ORIG, _COUNTERS_REPLY):
        for kind, at, _ in attributes(payload, *places.get(direction, (0, 0))):
            if kind == 1:
                packets += struct.unpack_from("!Q", payload, at)[0]
            elif kind == 2:
                octets += struct.unpack_from("!Q", payload, at)[0]
    expires_s = int(struct.unpack_from("!I", payload, places[_TIMEOUT][0])[0]) if _TIMEOUT in places else 0
    state = _tcp_state(payload, *places[_PROTOINFO]) if protocol == _TCP and _PROTOINFO in places else ""
    return Tracked(
        protocol,
        original[1],
        reply[1],
        status,
        expires_s,
        state,
        payload[start - 4 : (stop + 3) & ~3],
        packets,
        octets,
    )


def _end(data: bytes, start: int, end: int) -> tuple[int, End] | None:
    """Protocol and the direction's ends, from ``CTA_TUPLE_*``; None if it is not IPv4."""
    source = destination = None
    protocol = source_port = destination_port = 0
    for kind, inner, stop in attributes(data, start, end):
        for below, at, _ in attributes(data, inner, stop):
            if kind == 1 and below == 1:
                source = int(struct.unpack_from("!I", data, at)[0])
            elif kind == 1 and below == 2:
                destination = int(struct.unpack_from("!I", data, at)[0])
            elif kind == 2 and below == 1:
                protocol = data[at]
            elif kind == 2 and below == 2:
                source_port = int(struct.unpack_from("!H", data, at)[0])
            elif kind == 2 and below == 3:
                destination_port = int(struct.unpack_from("!H", data, at)[0])
            elif kind == 2 and below == 4:
                source_port = destination_port = int(struct.unpack_from("!H", data, at)[0])
    if source is None or destination is None:
        return None
    return protocol, End(source, destination, source_port, destination_port)


def _tcp_state(data: bytes, start: int, end: int) -> str:
    for kind, inner, stop in attributes(data, start, end):
        if kind == 1:
            for below, at, _ in attributes(data, inner, stop):
                if below == 1 and data[at] < len(_TCP_STATES):
                    return _TCP_STATES[data[at]]
    return ""


def text(number: int) -> str:
    """An address as text."""
    return str(IPv4Address(number))
