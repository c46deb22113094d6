"""What the rules of access lists do to a packet. Pure.

The lists of an interface are one list, looked at in order; the first rule that matches decides, and what none
matches is dropped. Neighbour discovery always passes, and received multicast is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from appliance.config.context import network
from appliance.features.acl.model import Acl, AclRule
from appliance.features.acl.rule_numbers import flag_bits, port_range, protocol_number
from appliance.impact.needed import Packet
from frr_config.types import IpAddress

_ICMPV6, _ND_TYPES = 58, range(133, 138)
_ANY_PORT = (0, 65535)
Direction = Literal["in", "out"]


@dataclass(frozen=True)
class Placed:
    """A rule and where it is."""

    acl: str
    sequence: int
    rule: AclRule

    @property
    def place(self) -> str:
        """As a sentence names it."""
        return f"rule {self.sequence} of {self.acl}"

    @property
    def permits(self) -> bool:
        """Whether what matches passes."""
        return self.rule.action != "deny"


@dataclass(frozen=True)
class Verdict:
    """What becomes of a packet, and the rule that says so; None where no rule matches."""

    passes: bool
    by: Placed | None = None

    @property
    def reason(self) -> str:
        """As the end of ``is dropped …``."""
        return f"by {self.by.place}" if self.by is not None else "because no rule permits it"


class Rules:
    """The rules of some lists in the order in which they are looked at."""

    def __init__(self, names: Sequence[str], acls: Mapping[str, Acl]) -> None:
        self.placed = tuple(
            Placed(name, sequence, rule)
            for name in names
            if name in acls
            for sequence, rule in acls[name].ordered()
        )
        self._for: dict[tuple[int, int], list[tuple[_Numbers, Placed]]] = {}

    def of(self, family: str) -> list[Placed]:
        """Those for one family."""
        return [placed for placed in self.placed if placed.rule.family == family]

    @property
    def reflects(self) -> bool:
        """Whether one of them lets answers back in."""
        return any(placed.rule.action == "permit_reflect" for placed in self.placed)

    def verdict(self, packet: Packet, direction: Direction) -> Verdict:
        """What the rules do to a packet that comes in or goes out."""
        if packet.protocol == _ICMPV6 and packet.icmp_type in _ND_TYPES:
            return Verdict(True)
        if direction == "in" and packet.destination.is_multicast:
            return Verdict(True)
        for numbers, placed in self._fitting(packet.source.version, packet.protocol):
            if _matches(numbers, packet):
                return Verdict(placed.permits, placed)
        return Verdict(False)

    def _fitting(self, version: int, protocol: int) -> list[tuple[_Numbers, Placed]]:
        key = (version, protocol)
        if key not in self._for:
            self._for[key] = [
                (numbers, placed)
                for placed in self.placed
                if (numbers := _numbers(placed.rule)).version == version and numbers.protocol in (0, protocol)
            ]
        return self._for[key]


def _matches(numbers: _Numbers, packet: Packet) -> bool:
    """Whether a rule of the packet's family and protocol is for it."""
    return (
        _holds(numbers.source, packet.source)
        and _holds(numbers.destination, packet.destination)
        and numbers.source_ports[0] <= packet.source_port <= numbers.source_ports[1]
        and numbers.destination_ports[0] <= packet.destination_port <= numbers.destination_ports[1]
        and numbers.icmp_type in (None, packet.icmp_type)
        and numbers.icmp_code in (None, packet.icmp_code)
        and packet.tcp_flags & numbers.flags_mask == numbers.flags_set
    )


def is_unconditional(rule: AclRule) -> bool:
    """Whether it matches every packet of its family."""
    numbers = _numbers(rule)
    return (
        numbers.source is None
        and numbers.destination is None
        and numbers.protocol == 0
        and numbers.flags_mask == 0
    )


@dataclass(frozen=True, slots=True)
class _Numbers:
    version: int
    source: tuple[int, int] | None
    """First and last address; None: any."""
    destination: tuple[int, int] | None
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
        _span(rule.source),
        _span(rule.destination),
        protocol_number(rule.protocol),
        port_range(rule.source_ports) or _ANY_PORT,
        port_range(rule.destination_ports) or _ANY_PORT,
        rule.icmp_type,
        rule.icmp_code,
        set_bits,
        set_bits | unset_bits,
    )


def _span(prefix: str | None) -> tuple[int, int] | None:
    if prefix is None or prefix.endswith("/0"):
        return None
    parsed = network(prefix)
    return int(parsed.network_address), int(parsed.broadcast_address)


def _holds(span: tuple[int, int] | None, address: IpAddress) -> bool:
    return span is None or span[0] <= int(address) <= span[1]
