"""Access lists, keyed by name in ``/acls``."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from appliance.config.ip_protocols import PortRange, Protocol
from frr_config.types import Description, Model, Prefix, Sequence

TcpFlag = Literal["fin", "syn", "rst", "psh", "ack", "urg"]


class TcpFlags(Model):
    """TCP flags a packet must and must not have (RFC 9293)."""

    set: tuple[TcpFlag, ...] = Field(default=(), title="Set")
    """Flags that must be set."""
    unset: tuple[TcpFlag, ...] = Field(default=(), title="Not set")
    """Flags that must not be set."""

    @model_validator(mode="after")
    def _disjoint(self) -> Self:
        if not self.set and not self.unset:
            raise ValueError("must name a flag that is set, or one that is not")
        if set(self.set) & set(self.unset) or len({*self.set, *self.unset}) != len(self.set) + len(
            self.unset
        ):
            raise ValueError("names a flag twice")
        return self


class AclRule(Model):
    """One rule; the first that matches decides."""

    action: Literal["permit", "deny", "permit_reflect"] = Field(title="Action")
    """``permit_reflect`` also permits the answers."""
    family: Literal["ipv4", "ipv6"] = Field(default="ipv4", title="Family")
    """Address family the rule is for; it never matches a packet of the other family. A list without a rule
    for a family drops all packets of that family, except neighbor discovery.
    """
    source: Prefix | None = Field(default=None, title="Source")
    """Source prefix; unset means any."""
    destination: Prefix | None = Field(default=None, title="Destination")
    """Destination prefix; unset means any."""
    protocol: Protocol = Field(default="any", title="Protocol")
    """IP protocol."""
    source_ports: PortRange | None = Field(default=None, title="Source ports")
    """TCP or UDP source port or range; unset means any."""
    destination_ports: PortRange | None = Field(default=None, title="Destination ports")
    """TCP or UDP destination port or range; unset means any."""
    icmp_type: int | None = Field(default=None, ge=0, le=255, title="ICMP type")
    """ICMP or ICMPv6 type; unset means any (RFC 792, RFC 4443)."""
    icmp_code: int | None = Field(default=None, ge=0, le=255, title="ICMP code")
    """ICMP or ICMPv6 code; unset means any."""
    tcp_flags: TcpFlags | None = Field(default=None, title="TCP flags")
    """TCP flags; unset means any."""
    description: Description = Field(default="", title="Description")
    """Shown beside the rule."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name in ("source", "destination"):
            prefix = getattr(self, name)
            if prefix is not None and (":" in prefix) != (self.family == "ipv6"):
                raise ValueError(f"{name}: {prefix} is not an {self.family} prefix")
        if (self.source_ports or self.destination_ports) and self.protocol not in ("tcp", "udp"):
            raise ValueError("ports need protocol tcp or udp")
        if self.icmp_type is not None and self.protocol not in ("icmp", "icmpv6"):
            raise ValueError("icmp_type needs protocol icmp or icmpv6")
        if self.icmp_code is not None and self.icmp_type is None:
            raise ValueError("icmp_code needs icmp_type")
        if self.tcp_flags is not None and self.protocol != "tcp":
            raise ValueError("tcp_flags needs protocol tcp")
        if (self.protocol == "icmp" and self.family != "ipv4") or (
            self.protocol == "icmpv6" and self.family != "ipv6"
        ):
            raise ValueError(f"protocol {self.protocol} does not belong to family {self.family}")
        return self


class Acl(Model):
    """An access list. A packet of either family that no rule matches is dropped."""

    description: Description = Field(default="", title="Description")
    """Shown beside the list."""
    rules: dict[Sequence, AclRule] = Field(default_factory=dict, title="Rules", max_length=65535)
    """Rules by sequence, evaluated in ascending order."""

    def ordered(self) -> list[tuple[int, AclRule]]:
        """Rules in the order they are evaluated."""
        # Sorting numbers alone is faster than sorting pairs.
        return [(sequence, self.rules[sequence]) for sequence in sorted(self.rules)]
