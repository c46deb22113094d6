"""One rule of an access list."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import ClassVar, Literal

from pydantic import ConfigDict

Action = Literal["deny", "permit", "permit_reflect"]
PortRange = tuple[int, int]
CodeRange = tuple[int, int]

ANY: PortRange = (0, 65535)
ALL_CODES: CodeRange = (0, 255)

ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58
_ICMP = (ICMP, ICMPV6)
_PORTS = (TCP, UDP)


@dataclass(frozen=True)
class AclRule:
    """Match on a packet's addresses, protocol, ports (TCP, UDP), ICMP type and code, TCP flags.

    ``permit_reflect`` also permits the return traffic of a permitted flow. Source and destination are of one
    family; a rule matches that family only. ``protocol`` is the IP protocol number, 0 for any. Ranges are
    inclusive; ICMP's are ``None`` for any. TCP flags match when ``flags & tcp_mask == tcp_flags``.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    action: Action
    source: IPv4Network | IPv6Network
    destination: IPv4Network | IPv6Network
    protocol: int = 0
    source_ports: PortRange = ANY
    destination_ports: PortRange = ANY
    icmp_type: CodeRange | None = None
    icmp_code: CodeRange | None = None
    tcp_flags: int = 0
    tcp_mask: int = 0

    def __post_init__(self) -> None:
        if self.source.version != self.destination.version:
            raise ValueError("source and destination are of different families")
        if not 0 <= self.protocol <= 255:
            raise ValueError("protocol is outside 0..255")
        if self.protocol not in _PORTS and (self.source_ports != ANY or self.destination_ports != ANY):
            raise ValueError("ports need protocol 6 (TCP) or 17 (UDP)")
        if self.protocol not in _ICMP and (self.icmp_type is not None or self.icmp_code is not None):
            raise ValueError("ICMP type and code need protocol 1 (ICMP) or 58 (ICMPv6)")
        if self.protocol != TCP and (self.tcp_flags or self.tcp_mask):
            raise ValueError("TCP flags need protocol 6 (TCP)")
        if not 0 <= self.tcp_mask <= 255 or self.tcp_flags & ~self.tcp_mask:
            raise ValueError("tcp_flags has bits outside tcp_mask")
        for first, last in (self.source_ports, self.destination_ports):
            if not 0 <= first <= last <= 65535:
                raise ValueError("a port range is empty or outside 0..65535")
        for pair in (self.icmp_type, self.icmp_code):
            if pair is not None and not 0 <= pair[0] <= pair[1] <= 255:
                raise ValueError("an ICMP range is empty or outside 0..255")
        # "Any" has one spelling, so that equal rules compare equal.
        if self.icmp_type == ALL_CODES:
            object.__setattr__(self, "icmp_type", None)
        if self.icmp_code == ALL_CODES:
            object.__setattr__(self, "icmp_code", None)

    def __hash__(self) -> int:
        """Computed once: a list has thousands of rules, and hashing networks is slow."""
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = hash(
                (
                    self.action,
                    int(self.source.network_address),
                    self.source.prefixlen,
                    int(self.destination.network_address),
                    self.destination.prefixlen,
                    self.protocol,
                    self.source_ports,
                    self.destination_ports,
                    self.icmp_type,
                    self.icmp_code,
                    self.tcp_flags,
                )
            )
            # Not a field: it is no part of equality or of the JSON form.
            object.__setattr__(self, "_hash", known)
        return known

    @property
    def wire_ranges(self) -> tuple[PortRange, PortRange]:
        """VPP's two ranges: source and destination port, or ICMP type and code."""
        if self.protocol in _ICMP:
            return self.icmp_type or ANY, self.icmp_code or ANY
        return self.source_ports, self.destination_ports

    @classmethod
    def from_wire(
        cls,
        action: Action,
        networks: tuple[IPv4Network | IPv6Network, IPv4Network | IPv6Network],
        protocol: int,
        ranges: tuple[PortRange, PortRange],
        tcp_flags: int,
        tcp_mask: int,
    ) -> AclRule:
        """The rule that VPP holds. Fields that VPP keeps but does not use for the protocol are dropped."""
        # A list of someone else may hold an empty range, which VPP accepts and never matches.
        first, second = ((one[0], max(one)) for one in ranges)
        if protocol in _ICMP:
            return cls(action, *networks, protocol, icmp_type=_codes(first), icmp_code=_codes(second))
        if protocol not in _PORTS:
            return cls(action, *networks, protocol)
        if protocol != TCP:
            tcp_flags = tcp_mask = 0
        flags = tcp_flags & tcp_mask
        return cls(action, *networks, protocol, first, second, tcp_flags=flags, tcp_mask=tcp_mask)


def _codes(pair: PortRange) -> CodeRange | None:
    """Both "all codes" and "all 16-bit values" mean any."""
    return None if pair[0] == 0 and pair[1] >= 255 else (min(pair[0], 255), min(pair[1], 255))
