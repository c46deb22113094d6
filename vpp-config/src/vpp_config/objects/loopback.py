"""A loopback interface: always up, for router IDs and services."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from vpp_config.access import Access
from vpp_config.dumps import Dumps, InterfaceRow
from vpp_config.leftover import Leftover
from vpp_config.objects.base import Interface, check_mac, check_name
from vpp_config.objects.link import change, settle

_VPP_NAME = re.compile(r"^loop(\d+)$")
_MAX_INSTANCE = 16 * 1024 - 1


def _instance_of(vpp_name: str) -> int | None:
    """The instance of an interface with the VPP name ``loop<instance>``; None for any other."""
    match = _VPP_NAME.match(vpp_name)
    return int(match[1]) if match else None


def _instance_token(instance: int) -> str:
    return f"loopback/{instance}"


@dataclass(frozen=True)
class Loopback(Interface):
    """VPP's ``loop<instance>``. Without a ``mac`` VPP derives one from the instance, always the same."""

    kind = "loopback"
    clears = ("loopback",)
    gone: ClassVar = {"delete_loopback": frozenset({-2})}

    name: str
    instance: int
    mac: str | None = None
    mtu: int = 9000
    enabled: bool = True

    def __post_init__(self) -> None:
        check_name(self.name)
        if not 0 <= self.instance <= _MAX_INSTANCE:
            raise ValueError(f"instance is outside 0..{_MAX_INSTANCE}")
        if self.mac is not None:
            object.__setattr__(self, "mac", check_mac(self.mac))

    def adopt(self, observed: Loopback) -> Loopback:
        """Take over the MAC that VPP derived."""
        if self.mac is None and observed.instance == self.instance:
            return replace(self, mac=observed.mac)
        return self

    def needs_recreate(self, before: Loopback) -> bool:
        """Another instance or MAC."""
        return (before.instance, before.mac) != (self.instance, self.mac)

    def occupies(self) -> str:
        """The instance."""
        return _instance_token(self.instance)

    def create(self, vpp: Access) -> None:
        """Create, tag, set the MTU."""
        reply = vpp.call(
            "create_loopback_instance",
            mac_address=self.mac or "00:00:00:00:00:00",
            is_specified=True,
            user_instance=self.instance,
        )
        settle(vpp, self, int(reply.sw_if_index))

    def update(self, before: Loopback, vpp: Access) -> None:
        """MTU and state in place."""
        change(vpp, self, before)

    def delete(self, vpp: Access) -> None:
        """Remove the loopback."""
        vpp.call("delete_loopback", sw_if_index=vpp.index_of(self.name))
        vpp.forget(self.provides)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[Loopback]:
        """Our tagged loopbacks."""
        for row in dumps.tagged_interfaces():
            instance = _instance_of(row.vpp_name)
            if instance is not None:
                yield cls(row.name, instance, row.mac, row.l3_mtu, row.up)

    @classmethod
    def occupied_by(cls, row: InterfaceRow, dumps: Dumps) -> str | None:
        """The instance, from VPP's name of the interface."""
        instance = _instance_of(row.vpp_name)
        return None if instance is None else _instance_token(instance)

    @classmethod
    def clear(cls, leftover: Leftover, vpp: Access) -> None:
        """Remove it."""
        vpp.call("delete_loopback", sw_if_index=leftover.index)
