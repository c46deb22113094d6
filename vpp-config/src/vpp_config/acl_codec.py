"""``acl_add_replace`` and ``acl_details`` on the wire (``plugins/acl/acl.api``), decoded and encoded here for
speed.

vpp_papi takes some 40 µs for each rule, and an access list of 1,024 rules is read at every observation. The
bytes of a rule are its identity, so both directions share one memory: when VPP returns the bytes of a rule
that was sent, the result is the same object again. An unchanged list costs one lookup for each rule, and
comparing it with the list that was sent takes next to no time.
"""

from __future__ import annotations

import struct
import threading
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
_MOST_REMEMBERED = 1 << 16


class SeenRules:
    """The most recent rules, by their bytes. Thread-safe.

    Encoding is one-to-one: a rule found by its bytes equals the result of a fresh decoding.
    """

    def __init__(self, most: int = _MOST_REMEMBERED) -> None:
        self._most = most
        self._rules: dict[bytes, AclRule] = {}
        self._lock = threading.Lock()
        self.get = self._rules.get
        """The rule with these bytes; None where it is not remembered."""

    def __len__(self) -> int:
        return len(self._rules)

    def keep(self, raw: bytes, rule: AclRule) -> AclRule:
        """Remember a rule; returns the object that represents these bytes, which may be an earlier one."""
        with self._lock:
            kept = self._rules.setdefault(raw, rule)
            while len(self._rules) > self._most:
                del self._rules[next(iter(self._rules))]
        return kept


_seen = SeenRules()


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


def decode_rule(raw: bytes) -> AclRule:
    """One ``acl_rule`` decoded from its bytes."""
    (action, src_family, src, src_length, dst_family, dst, dst_length, protocol,
     first1, last1, first2, last2, tcp_mask, tcp_flags) = _RULE.unpack(raw)  # fmt: skip
    return AclRule.from_wire(
        _ACTIONS[action],
        (_network(src_family, src, src_length), _network(dst_family, dst, dst_length)),
        protocol,
        ((first1, last1), (first2, last2)),
        tcp_flags,
        tcp_mask,
    )


def shared_rule(rule: AclRule) -> AclRule:
    """The object that represents an equal rule when VPP returns it unchanged."""
    return _seen.keep(encode_rule(rule), rule)


@lru_cache(maxsize=_MOST_REMEMBERED)
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
    """An ``acl_details`` message, including its id and context."""
    _, _, index, tag, count = _DETAILS.unpack_from(raw)
    start, size = _DETAILS.size, _RULE.size
    pieces = [raw[i : i + size] for i in range(start, start + count * size, size)]
    seen = _seen.get
    rules = tuple([seen(piece) or _seen.keep(piece, decode_rule(piece)) for piece in pieces])
    return AclDetails(index, tag.partition(b"\0")[0].decode(errors="replace"), rules)


def encode_add_replace(
    number: int, client_index: int, context: int, acl_index: int, tag: str, rules: Sequence[AclRule]
) -> bytes:
    """An ``acl_add_replace`` message. ``number`` is its id in the connected VPP."""
    head = _ADD_REPLACE.pack(number, client_index, context, acl_index, tag.encode()[:63], len(rules))
    seen, pieces = _seen.get, [encode_rule(rule) for rule in rules]
    for piece, rule in zip(pieces, rules, strict=True):
        if seen(piece) is None:
            _seen.keep(piece, rule)
    return b"".join([head, *pieces])
