"""NAT44: hosts inside share addresses outside (RFC 3022). In ``/nat``."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from appliance.config.host_address import HostAddress, host_address
from frr_config.references import InterfaceReference
from frr_config.types import Description, Model, Name, Prefix, Sequence

MOST_ADDRESSES = 1024
"""Of all pools together."""


def _canonical_range(value: str) -> str:
    first, last = bounds(value)
    if last < first:
        raise ValueError(f"{value!r} ends below its start")
    return str(first) if first == last else f"{first}-{last}"


def bounds(text: str) -> tuple[IPv4Address, IPv4Address]:
    """First and last address of ``198.51.100.8``, ``198.51.100.8-198.51.100.15`` or ``198.51.100.8/29``."""
    if "/" in text:
        try:
            network = IPv4Network(text)
        except ValueError as error:
            raise ValueError(f"{text!r} is not an IPv4 prefix: {error}") from None
        return host_address(str(network[0])), host_address(str(network[-1]))
    low, _, high = text.partition("-")
    return host_address(low), host_address(high or low)


def _ipv4_prefix(value: str) -> str:
    if ":" in value:
        raise ValueError(f"{value} is not an IPv4 prefix")
    return value


AddressRange = Annotated[
    str,
    AfterValidator(_canonical_range),
    Field(examples=["198.51.100.8-198.51.100.15", "198.51.100.8/29"], max_length=33),
]
"""IPv4 addresses: one, from one to another, or all of a prefix; kept as the first and the last one."""
Ipv4Prefix = Annotated[Prefix, AfterValidator(_ipv4_prefix)]
"""An IPv4 prefix."""
Port = Annotated[int, Field(ge=1, le=65535)]
"""A TCP or UDP port."""


MOST_SESSIONS = 131_072
"""Of one worker; VPP takes some 40 MB of its heap for them at once."""


class NatPool(Model):
    """Outside addresses that inside hosts share."""

    description: Description = Field(default="", title="Description")
    """Shown beside the pool."""
    addresses: tuple[AddressRange, ...] = Field(min_length=1, max_length=64, title="Addresses")
    """Outside addresses. Those that are in no connected network must be routed to this router."""


class NatStatic(Model):
    """A 1:1 mapping: one inside host has one outside address for everything it sends and receives."""

    description: Description = Field(default="", title="Description")
    """Shown beside the mapping."""
    outside_address: HostAddress = Field(title="Outside address")
    """Outside address of the host. It must be routed to this router, or be in the network of an outside
    interface.
    """
    inside_address: HostAddress = Field(title="Inside address", examples=["10.0.0.9"])
    """The host's own address."""


class NatPortForward(Model):
    """A port of an outside address that leads to an inside host."""

    description: Description = Field(default="", title="Description")
    """Shown beside the port forward."""
    protocol: Literal["tcp", "udp"] = Field(default="tcp", title="Protocol")
    """IP protocol."""
    outside_interface: InterfaceReference | None = Field(default=None, title="Outside interface")
    """Interface whose first IPv4 address is the outside address. Give either an interface or an outside
    address.
    """
    outside_address: HostAddress | None = Field(default=None, title="Outside address")
    """The outside address itself, if it is not taken from an interface."""
    outside_port: Port = Field(title="Outside port")
    """Port of the outside address."""
    inside_address: HostAddress = Field(title="Inside address", examples=["10.0.0.9"])
    """Address of the inside host."""
    inside_port: Port | None = Field(default=None, title="Inside port")
    """Port of the inside host; unset means the outside port."""

    @model_validator(mode="after")
    def _one_outside(self) -> Self:
        if (self.outside_interface is None) == (self.outside_address is None):
            raise ValueError("needs either outside_interface or outside_address")
        return self


class NoNatRule(Model):
    """Packets from inside that keep their source address."""

    description: Description = Field(default="", title="Description")
    """Shown beside the rule."""
    source: Ipv4Prefix | None = Field(default=None, title="Source")
    """Prefix of inside hosts; unset means any."""
    destination: Ipv4Prefix | None = Field(default=None, title="Destination")
    """Destination prefix; unset means any."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.source is None and self.destination is None:
            raise ValueError("needs source, destination, or both")
        return self


class NatTimeouts(Model):
    """Time without a packet after which a session is forgotten."""

    udp_s: int = Field(default=300, ge=10, le=86400, title="UDP", json_schema_extra={"unit": "seconds"})
    """Seconds; at least 120 is recommended (RFC 4787, REQ-5)."""
    tcp_established_s: int = Field(
        default=7440, ge=60, le=604800, title="TCP established", json_schema_extra={"unit": "seconds"}
    )
    """Seconds; at least 7440 is recommended (RFC 5382, REQ-5)."""
    tcp_transitory_s: int = Field(
        default=240, ge=10, le=86400, title="TCP transitory", json_schema_extra={"unit": "seconds"}
    )
    """Seconds, while a connection is opened or closed; at least 240 is recommended (RFC 5382, REQ-5)."""
    icmp_s: int = Field(default=60, ge=5, le=3600, title="ICMP", json_schema_extra={"unit": "seconds"})
    """Seconds; at least 60 is recommended (RFC 5508, REQ-2)."""


class Nat(Model):
    """NAT44: sessions from inside to outside get an outside address; IPv6 is not translated."""

    inside: tuple[InterfaceReference, ...] = Field(min_length=1, max_length=256, title="Inside interfaces")
    """Interfaces whose hosts are translated."""
    outside: tuple[InterfaceReference, ...] = Field(min_length=1, max_length=64, title="Outside interfaces")
    """Interfaces on the side where outside addresses are used. Packets that leave by any other interface keep
    their source address.
    """
    masquerade: tuple[InterfaceReference, ...] = Field(default=(), max_length=64, title="Masquerade")
    """Sessions that leave by one of these outside interfaces get its first IPv4 address (interface overload).
    Those that leave by another outside interface get an address from a pool.
    """
    pools: dict[Name, NatPool] = Field(
        default_factory=dict, title="Pools", max_length=64, json_schema_extra={"x-noun": "NAT pool"}
    )
    """Pools by name. The addresses of all pools are used alike, and each inside host keeps one of them."""
    static: dict[Name, NatStatic] = Field(
        default_factory=dict,
        title="1:1 mappings",
        max_length=4096,
        json_schema_extra={"x-noun": "1:1 NAT mapping", "x-key": "Name"},
    )
    """1:1 mappings by name."""
    port_forwards: dict[Name, NatPortForward] = Field(
        default_factory=dict,
        title="Port forwards",
        max_length=10000,
        json_schema_extra={"x-noun": "port forward"},
    )
    """Port forwards by name. Inside hosts can also reach them by the outside address."""
    no_nat: dict[Sequence, NoNatRule] = Field(
        default_factory=dict,
        title="No-NAT rules",
        max_length=256,
        json_schema_extra={"x-noun": "no-NAT rule", "x-key": "Sequence"},
    )
    """Rules by sequence. A packet that one of them matches keeps its source address on its way out."""
    timeouts: NatTimeouts = Field(default_factory=NatTimeouts, title="Timeouts")
    """When idle sessions are forgotten."""
    sessions_per_user: int | None = Field(default=None, ge=1, le=10000, title="Sessions per user")
    """Maximum number of sessions to the outside that one inside address may have begun at one time; unset
    means no limit.
    """
    sessions_per_worker: int | None = Field(
        default=None, ge=100, le=MOST_SESSIONS, title="Sessions per worker"
    )
    """Maximum number of sessions at one time on each worker of the vpp data plane; without workers, in all.
    Further sessions are refused. Unset means 131,072. A change ends all sessions.
    """

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for name in ("inside", "outside", "masquerade"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ValueError(f"{name} has a duplicate entry")
        return self

    def ordered(self) -> list[tuple[int, NoNatRule]]:
        """No-NAT rules in the order they are evaluated."""
        return sorted(self.no_nat.items())
