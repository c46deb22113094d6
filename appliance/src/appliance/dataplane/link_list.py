"""All links of a namespace, for every preview and commit: parsed from bytes, since there can be many.

The messages have the form of pyroute2's, with only the attributes that identify a link's NIC
(``linux/if_link.h``). Called inside the namespace.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.netlink import DONE, DUMP, ERROR, attribute, attributes, error_of, message, messages

_NEW, _GET = 16, 18
_LINK = struct.Struct("=BxHiII")
"""Family, hardware type, index, flags, change."""
_INFORMATION, _FILTER, _WITHOUT_STATISTICS = 18, 29, 8
_KIND, _HOLDER, _HELD, _HELD_ADDRESS = 1, 4, 5, 4
_BOND = b"bond"
_TIMEOUT_S = 5.0
_BUFFER_BYTES = 1 << 18


def links() -> list[Mapping[str, Any]]:
    """``index``, ``flags``, ``ifi_type`` and ``attrs`` of each. Raises DataPlaneError."""
    asked = _LINK.pack(0, 0, 0, 0, 0) + attribute(_FILTER, struct.pack("=I", _WITHOUT_STATISTICS))
    kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC
    try:
        with socket.socket(socket.AF_NETLINK, kind, socket.NETLINK_ROUTE) as kernel:
            kernel.settimeout(_TIMEOUT_S)
            kernel.send(message(_GET, DUMP, 1, asked))
            return list(_answers(kernel))
    except OSError as error:
        raise DataPlaneError(f"cannot read the links: {error.strerror or error}") from error


def _answers(kernel: socket.socket) -> Iterator[Mapping[str, Any]]:
    while True:
        for kind, content in messages(kernel.recv(_BUFFER_BYTES)):
            if kind == DONE:
                return
            if kind == ERROR:
                code = error_of(content)
                raise OSError(code, os.strerror(code))
            if kind == _NEW:
                yield _told(content)


def _told(content: bytes) -> Mapping[str, Any]:
    _, hardware, index, flags, _ = _LINK.unpack_from(content)
    found: list[tuple[str, Any]] = []
    for kind, start, end in attributes(content, _LINK.size, len(content)):
        if kind == _INFORMATION:
            found.append(("IFLA_LINKINFO", {"attrs": _information(content, start, end)}))
        elif (known := _ATTRIBUTES.get(kind)) is not None:
            name, read = known
            found.append((name, read(content[start:end])))
    return {"index": index, "flags": flags, "ifi_type": hardware, "attrs": found}


def _information(content: bytes, start: int, end: int) -> list[tuple[str, Any]]:
    places = {kind: (at, to) for kind, at, to in attributes(content, start, end)}
    found: list[tuple[str, Any]] = []
    if (own := places.get(_KIND)) is not None:
        found.append(("IFLA_INFO_KIND", _text(content[slice(*own)])))
    holder = places.get(_HOLDER)
    # The link's master decides the content of this attribute.
    if holder is not None and content[slice(*holder)].rstrip(b"\0") == _BOND and _HELD in places:
        held = [
            ("IFLA_BOND_SLAVE_PERM_HWADDR", _mac(content[at:to]))
            for kind, at, to in attributes(content, *places[_HELD])
            if kind == _HELD_ADDRESS
        ]
        found.append(("IFLA_INFO_SLAVE_DATA", {"attrs": held}))
    return found


def _text(value: bytes) -> str:
    return value.rstrip(b"\0").decode(errors="replace")


def _mac(value: bytes) -> str:
    return value.hex(":")


_ATTRIBUTES: Mapping[int, tuple[str, Callable[[bytes], str]]] = {
    1: ("IFLA_ADDRESS", _mac),
    3: ("IFLA_IFNAME", _text),
    20: ("IFLA_IFALIAS", _text),
    54: ("IFLA_PERM_ADDRESS", _mac),
    56: ("IFLA_PARENT_DEV_NAME", _text),
    57: ("IFLA_PARENT_DEV_BUS_NAME", _text),
}
