"""Prefixes for which the kernel receives packets although no interface has their addresses.

They are routes of type *local* in table *local*, with a protocol number of our own. So the kernel answers ARP
for them, and a packet that no mapping leads inside ends here instead of being sent back. The code builds the
messages of ``linux/rtnetlink.h`` itself, since there can be thousands. Called inside the namespace.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.netlink import (
    ACK,
    DONE,
    DUMP,
    ERROR,
    attribute,
    attributes,
    error_of,
    message,
    messages,
)

_NEW, _DELETE, _GET = 24, 25, 26
_CREATE_EXCLUSIVELY = 0x600
_PROTOCOL = 79
"""Used by no other program (``/etc/iproute2/rt_protos``)."""
_ROUTE = struct.Struct("=BBBBBBBBI")
"""Family, length of destination and source, tos, table, protocol, scope, type, flags."""
_TABLE, _LO, _HOST_SCOPE, _LOCAL = 255, 1, 254, 2
_DESTINATION, _INTERFACE = 1, 4
_SOL_NETLINK, _STRICT_CHECK = 270, 12
_TIMEOUT_S = 5.0
_BUFFER_BYTES = 1 << 18


def received_prefixes() -> list[str]:
    """The prefixes that this program set. Raises DataPlaneError."""
    asked = _ROUTE.pack(socket.AF_INET, 0, 0, 0, _TABLE, _PROTOCOL, 0, 0, 0)
    try:
        with _opened() as link:
            # The kernel dumps this table alone, not a million routes.
            link.setsockopt(_SOL_NETLINK, _STRICT_CHECK, 1)
            link.send(message(_GET, DUMP, 1, asked))
            return list(_prefixes(link))
    except OSError as error:
        raise DataPlaneError(f"cannot read the outside addresses: {error.strerror or error}") from error


def receive(prefix: str, wanted: bool) -> None:
    """Begin or stop to receive packets for the prefix; no error if already so. Raises DataPlaneError."""
    network = IPv4Network(prefix)
    body = _ROUTE.pack(socket.AF_INET, network.prefixlen, 0, 0, _TABLE, _PROTOCOL, _HOST_SCOPE, _LOCAL, 0)
    body += attribute(_DESTINATION, network.network_address.packed)
    body += attribute(_INTERFACE, struct.pack("=I", _LO))
    kind, flags = (_NEW, _CREATE_EXCLUSIVELY) if wanted else (_DELETE, 0)
    try:
        with _opened() as link:
            link.send(message(kind, ACK | flags, 1, body))
            _, answer = next(messages(link.recv(_BUFFER_BYTES)))
        if code := error_of(answer):
            raise OSError(code, os.strerror(code))
    except OSError as error:
        if error.errno != (errno.EEXIST if wanted else errno.ESRCH):
            what = "receive" if wanted else "no longer receive"
            reason = error.strerror or error
            raise DataPlaneError(f"cannot {what} packets for {prefix}: {reason}") from error


def _opened() -> socket.socket:
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
    link.settimeout(_TIMEOUT_S)
    return link


def _prefixes(link: socket.socket) -> Iterator[str]:
    while True:
        for kind, content in messages(link.recv(_BUFFER_BYTES)):
            if kind == DONE:
                return
            if kind == ERROR:
                code = error_of(content)
                raise OSError(code, os.strerror(code))
            if kind == _NEW:
                _, length, _, _, table, protocol, _, _, _ = _ROUTE.unpack_from(content)
                if (table, protocol) == (_TABLE, _PROTOCOL):
                    yield f"{_destination(content)}/{length}"


def _destination(route: bytes) -> IPv4Address:
    for kind, start, end in attributes(route, _ROUTE.size, len(route)):
        if kind == _DESTINATION:
            return IPv4Address(route[start:end])
    return IPv4Address(0)
