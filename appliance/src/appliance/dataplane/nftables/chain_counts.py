"""Counts of single chains, queried from the kernel itself: nft reads every rule of the table for any of them.

Messages are those of ``linux/netfilter/nf_tables.h``.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

from appliance.dataplane.base import DataPlaneError

_NETLINK_NETFILTER, _SUBSYSTEM, _INET = 12, 10, 1
_GETCHAIN, _GETRULE = 4, 7
_REQUEST_DUMP = 0x301
_ERROR, _DONE = 2, 3
_CHAIN_TABLE, _CHAIN_NAME = 1, 3
_RULE_TABLE, _RULE_CHAIN, _RULE_EXPRESSIONS = 1, 2, 4
_EXPRESSION_NAME, _EXPRESSION_DATA, _COUNTER_PACKETS = 1, 2, 2
_HEADER, _GENERIC, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("!BBH"), struct.Struct("=HH")
_TIMEOUT_S = 5.0
_BUFFER_BYTES = 1 << 17


def chains(table: str) -> list[str]:
    """Names of the chains of one of our tables; none if there is no table. Raises DataPlaneError."""
    # The kernel does not filter chains by table.
    return [
        _text(found[_CHAIN_NAME])
        for found in _dump(_GETCHAIN, b"")
        if _text(found.get(_CHAIN_TABLE, b"")) == table
    ]


def last_count(table: str, chain: str) -> int:
    """Packets that the last rule of the chain counted; 0 if it has no counter. Raises DataPlaneError."""
    asked = _attribute(_RULE_TABLE, table) + _attribute(_RULE_CHAIN, chain)
    packets = 0
    for rule in _dump(_GETRULE, asked):
        packets = _packets(rule.get(_RULE_EXPRESSIONS, b""))
    return packets


def _packets(expressions: bytes) -> int:
    for _, element in _attributes(expressions):
        expression = dict(_attributes(element))
        if _text(expression.get(_EXPRESSION_NAME, b"")) == "counter":
            counter = dict(_attributes(expression[_EXPRESSION_DATA]))
            return int(struct.unpack("!Q", counter[_COUNTER_PACKETS])[0])
    return 0


def _dump(message: int, body: bytes) -> Iterator[dict[int, bytes]]:
    """The attributes of each object of the answer."""
    asked = _GENERIC.pack(_INET, 0, 0) + body
    head = _HEADER.pack(_HEADER.size + len(asked), _SUBSYSTEM << 8 | message, _REQUEST_DUMP, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER) as link:
        link.settimeout(_TIMEOUT_S)
        try:
            link.send(head + asked)
            while True:
                data = link.recv(_BUFFER_BYTES)
                while data:
                    length, kind, _, _, _ = _HEADER.unpack_from(data)
                    if kind == _DONE or (kind == _ERROR and _code(data) in (0, -2)):
                        return
                    if kind == _ERROR:
                        raise OSError(-_code(data), "the kernel refuses to list its nftables rules")
                    yield dict(_attributes(data[_HEADER.size + _GENERIC.size : length]))
                    data = data[(length + 3) & ~3 :]
        except OSError as error:
            raise DataPlaneError(f"the counts of the access lists cannot be read: {error}") from error


def _code(data: bytes) -> int:
    return int(struct.unpack_from("=i", data, _HEADER.size)[0])


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, at)
        yield kind & 0x3FFF, data[at + _ATTRIBUTE.size : at + length]
        at += (max(length, _ATTRIBUTE.size) + 3) & ~3


def _attribute(kind: int, text: str) -> bytes:
    value = text.encode() + b"\0"
    padding = b"\0" * (-len(value) % 4)
    return _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), kind) + value + padding


def _text(value: bytes) -> str:
    return value.rstrip(b"\0").decode()
