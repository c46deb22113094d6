"""Outside addresses for which the kernel receives packets although no interface has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.local_routes import receive, received_prefixes
from appliance.dataplane.linux.objects.base import LinuxObject
from appliance.dataplane.linux.objects.nat_translation import NAT
from planner import Phase


@dataclass(frozen=True)
class NatAddress(LinuxObject):
    """A prefix of outside addresses: the kernel answers ARP for them."""

    up_phase: ClassVar[Phase] = "attach"
    down_phase: ClassVar[Phase] = "detach"

    prefix: str

    @property
    def key(self) -> str:
        """``nat_address/<prefix>``."""
        return f"nat_address/{self.prefix}"

    @property
    def path(self) -> str:
        """NAT in the document."""
        return "/nat"

    def label(self) -> str:
        """``outside address 198.51.100.8/29``."""
        return f"outside address {self.prefix.removesuffix('/32')}"

    def requires(self) -> tuple[str, ...]:
        """The table: without it, arriving packets would be for the router itself."""
        return (NAT,)

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """Our routes."""
        for prefix in received_prefixes():
            yield cls(prefix)

    def create(self, kernel: Access) -> None:
        """Receive packets for the prefix; no error if already so."""
        receive(self.prefix, True)

    def update(self, before: Self, kernel: Access) -> None:
        """Nothing can change in place: the key holds everything."""

    def delete(self, kernel: Access) -> None:
        """No longer receive them."""
        receive(self.prefix, False)
