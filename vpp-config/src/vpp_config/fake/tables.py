"""The state of the fake VPP, and how it refuses."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import Any

from vpp_config.objects.acl_rule import AclRule

UNSPECIFIED = -1
INVALID_SW_IF_INDEX = -2
NO_SUCH_FIB = -3
NO_SUCH_ENTRY = -6
INVALID_VALUE = -7
SYSCALL_ERROR_1 = -11
INVALID_REGISTRATION = -31
VLAN_ALREADY_EXISTS = -56
ADDRESS_NOT_FOUND = -60
SUBIF_ALREADY_EXISTS = -68
INVALID_INTERFACE = -71
INVALID_ARGUMENT = -73
UNEXPECTED_INTF_STATE = -74
IF_ALREADY_EXISTS = -79
VALUE_EXIST = -81
INVALID_SUB_SW_IF_INDEX = -98
ADDRESS_IN_USE = -105
ADDRESS_FOUND = -114
ENTRY_ALREADY_EXISTS = -116
UNSUPPORTED = -126
DUPLICATE_IF_ADDRESS = -127
ACL_IN_USE_INBOUND = -142
ACL_IN_USE_OUTBOUND = -143
INSTANCE_IN_USE = -147
ALREADY_DISABLED = -169
ALREADY_ENABLED = -170

NO_MAC = "00:00:00:00:00:00"
"""MTU of interfaces without Ethernet."""

AnyInterface = IPv4Interface | IPv6Interface


class RefusedError(Exception):
    """The call ends with this return value."""

    def __init__(self, retval: int) -> None:
        super().__init__(retval)
        self.retval = retval


@dataclass
class Pair:
    """A Linux mirror; ``addresses`` are those it was given."""

    host_if_name: str
    host_if_type: int
    netns: str
    host_sw_if_index: int
    vif_index: int
    addresses: set[AnyInterface] = field(default_factory=set)


@dataclass
class FakeInterface:
    """One row of the interface table."""

    index: int
    vpp_name: str
    kind: str
    mac: str
    link_mtu: int = 9000
    l3_mtu: int = 9000
    any_link_mtu: bool = False
    """Whether the device accepts any MTU."""
    up: bool = False
    tag: str = ""
    parent: int | None = None
    vlan_id: int = 0
    host_device: str = ""
    pci_address: tuple[int, int, int, int] | None = None
    addresses: list[AnyInterface] = field(default_factory=list)
    tables: dict[bool, int] = field(default_factory=lambda: {False: 0, True: 0})
    inbound: list[int] = field(default_factory=list)
    outbound: list[int] = field(default_factory=list)
    pair: Pair | None = None
    parts: dict[type, Any] = field(default_factory=dict)
    """A plugin's data about this interface, by its type."""


@dataclass(frozen=True)
class FakePath:
    """A path of a route; ``next_hop`` is None for a connected one."""

    kind: int
    next_hop: IPv4Address | IPv6Address | None = None
    sw_if_index: int = 0xFFFFFFFF
    weight: int = 1


@dataclass
class Tables:
    """Everything that a restart discards."""

    interfaces: dict[int, FakeInterface] = field(default_factory=dict)
    ip_tables: dict[tuple[int, bool], str] = field(default_factory=dict)
    acls: dict[int, tuple[str, tuple[AclRule, ...]]] = field(default_factory=dict)
    routes: dict[tuple[int, IPv4Network | IPv6Network], tuple[FakePath, ...]] = field(default_factory=dict)
    """Routes as linux_nl would add them."""
    policers: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    """Name and settings."""
    punt_policed: dict[bool, list[int]] = field(default_factory=lambda: {False: [], True: []})
    """For each family: a policer's index, once for each time it was bound."""
    vif_indexes: int = 1

    @classmethod
    def fresh(cls) -> Tables:
        """The state after VPP's start."""
        tables = cls(ip_tables={(0, False): "ipv4-VRF:0", (0, True): "ipv6-VRF:0"})
        tables.interfaces[0] = FakeInterface(0, "local0", "local", NO_MAC, 0, 0)
        return tables

    def interface(self, index: int) -> FakeInterface:
        """Raises :class:`RefusedError` where VPP would refuse."""
        try:
            return self.interfaces[index]
        except KeyError:
            raise RefusedError(INVALID_SW_IF_INDEX) from None

    def add_interface(self, vpp_name: str, kind: str, mac: str) -> FakeInterface:
        """VPP reuses freed indexes."""
        index = _lowest_free(self.interfaces)
        self.interfaces[index] = FakeInterface(index, vpp_name, kind, mac)
        return self.interfaces[index]

    def remove_interface(self, index: int) -> None:
        """Its sub-interfaces, and the tap of its mirror, are removed with it."""
        row = self.interfaces.pop(index)
        for other in list(self.interfaces.values()):
            if other.parent == index:
                self.remove_interface(other.index)
        if row.pair is not None:
            self.interfaces.pop(row.pair.host_sw_if_index, None)

    def add_acl(self, tag: str, rules: tuple[AclRule, ...]) -> int:
        """The new list's index."""
        index = _lowest_free(self.acls)
        self.acls[index] = (tag, rules)
        return index

    def add_policer(self, name: str, settings: dict[str, Any]) -> int:
        """The new policer's index."""
        index = _lowest_free(self.policers)
        self.policers[index] = (name, settings)
        return index


def _lowest_free(used: Container[int]) -> int:
    index = 0
    while index in used:
        index += 1
    return index
