"""The rules of an access list in the kernel, and the bindings of an interface: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True)
class FilterRule:
    """One rule of an access list. None, or protocol 0, means any."""

    sequence: int
    action: Literal["permit", "deny", "permit_reflect"]
    family: Literal["ipv4", "ipv6"]
    source: str | None = None
    destination: str | None = None
    protocol: int = 0
    source_ports: tuple[int, int] | None = None
    destination_ports: tuple[int, int] | None = None
    icmp_type: int | None = None
    icmp_code: int | None = None
    tcp_set: int = 0
    """TCP flags that must be set, as bits of the header's byte."""
    tcp_unset: int = 0


@dataclass(frozen=True)
class Foreign:
    """A rule in one of our chains that this program did not write; it never equals a desired one."""

    text: str


class Binding(Protocol):
    """Access lists of an interface, in order. ``reflect``: sessions of permit_reflect pass both ways."""

    @property
    def interface(self) -> str:
        """Its name."""

    @property
    def inbound(self) -> tuple[str, ...]:
        """Lists for received packets."""

    @property
    def outbound(self) -> tuple[str, ...]:
        """Lists for sent packets."""

    @property
    def reflect(self) -> bool:
        """Whether a list has a rule permit_reflect."""


@dataclass(frozen=True)
class ReadBinding:
    """A binding as observed."""

    interface: str
    inbound: tuple[str, ...]
    outbound: tuple[str, ...]
    reflect: bool = False
