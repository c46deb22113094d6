"""``acl_add_replace`` and ``acl_details`` on the wire (``plugins/acl/acl.api``), decoded and encoded here
for speed.

vpp_papi takes some 40 µs for each rule; an access list of 1,024 rules is read at every observation. The
bytes of a rule are its identity: both directions remember what they have seen, so an unchanged list costs a
lookup for each rule.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network

from vpp_config.objects.acl_rule import AclRule, Action

# action, prefix (family, 16 bytes of address, length) twice, protocol, two port ranges, TCP mask and value
_RULE = struct.Struct(">BB16sBB16sBBHHHHBB")
_DETAILS = struct.Struct(">HII64sI")
_ADD_REPLACE = struct.Struct(">HIII64sI")
_ACTIONS: tuple[Action, ...] = ("deny", "permit", "permit_reflect")
_IP4 = 0


@dataclass(frozen=True)
class AclDetails:
    """An ``acl_details`` message."""

    acl_index: int
    tag: str
    r: tuple[AclRule, ...]


def _network(family: int, address: bytes, length: int) -> IPv4Network | IPv6Network:
    if family == _IP4:
        return IPv4Network((address[:4], length), strict=False)
    return IPv6Network((address, length), strict=False)


def _wire_prefix(network: IPv4Network | IPv6Network) -> tuple[int, bytes, int]:
    return network.version == 6, network.network_address.packed, network.prefixlen


@lru_cache(maxsize=1 << 16)
def decode_rule(raw: bytes) -> AclRule:
    """One ``acl_rule`` from its bytes."""
    (action, src_family, src, src_length, dst_family, dst, dst_length, protocol,
     first1, last1, first2, last2, tcp_mask, tcp_flags) = _RULE.unpack(raw)  # fmt: skip
    return AclRule.from_wire(
        _ACTIONS[action],
        _network(src_family, src, src_length),
        _network(dst_family, dst, dst_length),
        protocol,
        (first1, last1),
        (first2, last2),
        tcp_flags,
        tcp_mask,
    )


@lru_cache(maxsize=1 << 16)
def encode_rule(rule: AclRule) -> bytes:
    """One ``acl_rule`` as its bytes."""
    (first1, last1), (first2, last2) = rule.wire_ranges
    return _RULE.pack(
        _ACTIONS.index(rule.action),
        *_wire_prefix(rule.source),
        *_wire_prefix(rule.destination),
        rule.protocol,
        first1, last1, first2, last2,
        rule.tcp_mask,
        rule.tcp_flags,
    )  # fmt: skip


def decode_details(raw: bytes) -> AclDetails:
    """An ``acl_details`` message, its id and context included."""
    _, _, index, tag, count = _DETAILS.unpack_from(raw)
    start, size = _DETAILS.size, _RULE.size
    rules = tuple([decode_rule(raw[i : i + size]) for i in range(start, start + count * size, size)])
    return AclDetails(index, tag.partition(b"\0")[0].decode(errors="replace"), rules)


def encode_add_replace(
    number: int, client_index: int, context: int, acl_index: int, tag: str, rules: Sequence[AclRule]
) -> bytes:
    """An ``acl_add_replace`` message. ``number`` is its id in the connected VPP."""
    head = _ADD_REPLACE.pack(number, client_index, context, acl_index, tag.encode()[:63], len(rules))
    return b"".join([head, *map(encode_rule, rules)])
