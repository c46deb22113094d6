"""The effect of access list rules on a packet. Pure.

The lists of an interface act as one list, evaluated in order; the first rule that matches decides, and a
packet that matches none is dropped. Neighbour discovery always passes, and received multicast is not
filtered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from appliance.config.context import network
from appliance.features.acl.model import Acl, AclRule
from appliance.features.acl.rule_numbers import flag_bits, port_range, protocol_number
from appliance.impact.needed import Packet

_ICMPV6, _ND_TYPES = 58, range(133, 138)
_ANY_PORT = (0, 65535)
_Kind = tuple[int, int, int, int, int, int, int]
_Table = dict[tuple[int, int], dict[tuple[int, int], int]]
"""By the lengths of both prefixes: from the bits that they fix to the position of the first such rule."""
Direction = Literal["in", "out"]
DIRECTIONS: tuple[Direction, ...] = ("in", "out")
FAMILIES = ("ipv4", "ipv6")


class Placed(NamedTuple):
    """A rule and its place. A tuple, so that ten thousand of them are made and compared quickly."""

    acl: str
    sequence: int
    rule: AclRule

    @property
    def place(self) -> str:
        """Its name in a sentence."""
        return f"rule {self.sequence} of {self.acl}"

    @property
    def permits(self) -> bool:
        """Whether matching packets pass."""
        return self.rule.action != "deny"

    @property
    def reflects(self) -> bool:
        """Whether the answers to matching packets also pass."""
        return self.rule.action == "permit_reflect"


@dataclass(frozen=True)
class Verdict:
    """What happens to a packet, and the rule that decides it; None if no rule matches."""

    passes: bool
    by: Placed | None = None

    @property
    def reason(self) -> str:
        """As the end of ``is dropped …``."""
        return f"by {self.by.place}" if self.by is not None else "because no rule permits it"


_last_placed: dict[str, tuple[Acl, Mapping[int, Placed]]] = {}
"""The last list of each name, with its rules by sequence, in their order."""
_MOST_PLACED = 1024


def _placed(name: str, acl: Acl) -> Mapping[int, Placed]:
    """A rule shared with the last list of this name is returned as the same object."""
    known = _last_placed.get(name)
    if known is not None and known[0] is acl:
        return known[1]
    before = known[1] if known is not None else {}
    made, rules = {}, acl.rules
    for sequence in sorted(rules):
        one, rule = before.get(sequence), rules[sequence]
        made[sequence] = one if one is not None and one.rule is rule else Placed(name, sequence, rule)
    if len(_last_placed) >= _MOST_PLACED:
        _last_placed.clear()
    _last_placed[name] = (acl, made)
    return made


class Rules:
    """The rules of some lists in the order of evaluation."""

    def __init__(self, names: Sequence[str], acls: Mapping[str, Acl]) -> None:
        self.placed = tuple(
            chain.from_iterable([_placed(name, acls[name]).values() for name in names if name in acls])
        )
        self._tables: dict[_Kind, _Table] = {}
        self._families: dict[str, tuple[Placed, ...]] = {}

    @cached_property
    def _numbers(self) -> list[_Numbers]:
        return [_numbers(placed.rule) for placed in self.placed]

    def of(self, family: str) -> tuple[Placed, ...]:
        """Those for one family."""
        if family not in self._families:
            self._families[family] = tuple([one for one in self.placed if one.rule.family == family])
        return self._families[family]

    @cached_property
    def reflects(self) -> bool:
        """Whether one of them lets answers back in."""
        return any(placed.reflects for placed in self.placed)

    def verdict(self, packet: Packet, direction: Direction) -> Verdict:
        """The effect of the rules on a packet that comes in or goes out."""
        if packet.protocol == _ICMPV6 and packet.icmp_type in _ND_TYPES:
            return Verdict(True)
        if direction == "in" and packet.destination.is_multicast:
            return Verdict(True)
        position = self._first(packet)
        if position is None:
            return Verdict(False)
        return Verdict(self.placed[position].permits, self.placed[position])

    def _first(self, packet: Packet) -> int | None:
        """The first matching rule: prefixes of each length are looked up, not walked."""
        kind = (
            packet.source.version,
            packet.protocol,
            packet.source_port,
            packet.destination_port,
            packet.icmp_type,
            packet.icmp_code,
            packet.tcp_flags,
        )
        if kind not in self._tables:
            self._tables[kind] = self._table(packet)
        bits = packet.source.max_prefixlen
        source, destination = int(packet.source), int(packet.destination)
        matching = (
            places.get((source >> (bits - lengths[0]), destination >> (bits - lengths[1])))
            for lengths, places in self._tables[kind].items()
        )
        return min((position for position in matching if position is not None), default=None)

    def _table(self, packet: Packet) -> _Table:
        """The rules for packets like this one, whatever their addresses, by the lengths of their prefixes."""
        table: _Table = {}
        for position, numbers in enumerate(self._numbers):
            if _is_for(numbers, packet):
                places = table.setdefault((numbers.source[0], numbers.destination[0]), {})
                places.setdefault((numbers.source[1], numbers.destination[1]), position)
        return table


def _is_for(numbers: _Numbers, packet: Packet) -> bool:
    """Whether a rule matches the packet, addresses aside."""
    return (
        numbers.version == packet.source.version
        and numbers.protocol in (0, packet.protocol)
        and numbers.source_ports[0] <= packet.source_port <= numbers.source_ports[1]
        and numbers.destination_ports[0] <= packet.destination_port <= numbers.destination_ports[1]
        and numbers.icmp_type in (None, packet.icmp_type)
        and numbers.icmp_code in (None, packet.icmp_code)
        and packet.tcp_flags & numbers.flags_mask == numbers.flags_set
    )


def is_unconditional(rule: AclRule) -> bool:
    """Whether it matches every packet of its family."""
    # Ports, types and flags each belong to one protocol. Called for thousands of rules, hardly any of which
    # matches.
    return rule.protocol == "any" and _is_any(rule.source) and _is_any(rule.destination)


def _is_any(prefix: str | None) -> bool:
    return prefix is None or prefix.endswith("/0")


@dataclass(frozen=True, slots=True)
class _Numbers:
    version: int
    source: tuple[int, int]
    """Length of the prefix and the bits that it fixes; (0, 0) is any."""
    destination: tuple[int, int]
    protocol: int
    source_ports: tuple[int, int]
    destination_ports: tuple[int, int]
    icmp_type: int | None
    icmp_code: int | None
    flags_set: int
    flags_mask: int


@lru_cache(maxsize=1 << 16)
def _numbers(rule: AclRule) -> _Numbers:
    flags = rule.tcp_flags
    set_bits, unset_bits = (flag_bits(flags.set), flag_bits(flags.unset)) if flags else (0, 0)
    return _Numbers(
        6 if rule.family == "ipv6" else 4,
        _prefix(rule.source),
        _prefix(rule.destination),
        protocol_number(rule.protocol),
        port_range(rule.source_ports) or _ANY_PORT,
        port_range(rule.destination_ports) or _ANY_PORT,
        rule.icmp_type,
        rule.icmp_code,
        set_bits,
        set_bits | unset_bits,
    )


def _prefix(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 0
    parsed = network(text)
    return parsed.prefixlen, int(parsed.network_address) >> (parsed.max_prefixlen - parsed.prefixlen)
