"""What the linux data plane is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from appliance.dataplane.control_plane.policy import ControlPlane


@dataclass(frozen=True)
class EthernetLink:
    """A NIC that carries the document's name. ``device`` is its own name."""

    name: str
    device: str
    mtu: int
    enabled: bool

    @property
    def key(self) -> str:
        return f"interface/{self.name}"


@dataclass(frozen=True)
class VlanLink:
    """An 802.1Q sub-interface."""

    name: str
    parent: str
    vlan_id: int
    mtu: int
    enabled: bool

    @property
    def key(self) -> str:
        return f"interface/{self.name}"


@dataclass(frozen=True)
class LoopbackLink:
    """A dummy device, or an empty bridge where the kernel has no dummy."""

    name: str
    mtu: int
    enabled: bool

    @property
    def key(self) -> str:
        return f"interface/{self.name}"


Link = EthernetLink | VlanLink | LoopbackLink


@dataclass(frozen=True)
class LinkAddress:
    """An address with prefix length, in canonical text."""

    interface: str
    address: str

    @property
    def key(self) -> str:
        return f"address/{self.interface}/{self.address}"


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
    """TCP flags that have to be set, as bits of the header's byte."""
    tcp_unset: int = 0


@dataclass(frozen=True)
class Foreign:
    """A rule in a chain of ours that this program did not write; it never equals a wanted one."""

    text: str


@dataclass(frozen=True)
class FilterList:
    """An access list: its rules in the order they are looked at."""

    name: str
    rules: tuple[FilterRule | Foreign, ...]

    @property
    def key(self) -> str:
        return f"acl/{self.name}"


@dataclass(frozen=True)
class FilterBinding:
    """Access lists of an interface, in order. ``reflect``: sessions of permit_reflect pass both ways."""

    interface: str
    inbound: tuple[str, ...]
    outbound: tuple[str, ...]
    reflect: bool = False

    @property
    def key(self) -> str:
        return f"acl_binding/{self.interface}"


@dataclass(frozen=True)
class KernelSettings:
    """Sysctls of the namespace, sorted by name, and whether its ``lo`` is up."""

    values: tuple[tuple[str, str], ...]
    loopback_up: bool = True

    @property
    def key(self) -> str:
        return "kernel"


LinuxObject = Link | LinkAddress | FilterList | FilterBinding | KernelSettings | ControlPlane


class LinuxState(Mapping[str, LinuxObject]):
    """Objects by key. Two states are equal when their objects are."""

    def __init__(self, objects: Mapping[str, LinuxObject]) -> None:
        self._objects = dict(objects)

    @classmethod
    def of(cls, objects: Iterable[LinuxObject]) -> LinuxState:
        """The state made of these objects."""
        return cls({item.key: item for item in objects})

    def __getitem__(self, key: str) -> LinuxObject:
        return self._objects[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)
