"""Whether VPP does NAT, and how long it keeps sessions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import Dumps
from vpp_config.errors import VppApiError
from vpp_config.objects.base import VppObject

CONFIG = request("nat44_show_running_config")
NAT = "nat/all"
"""The token that every other NAT object requires."""
ALREADY_DISABLED, ALREADY_ENABLED = -169, -170
EXISTS, NO_SUCH_ENTRY, NOT_ENABLED = -81, -6, -126
ANY_VRF = 0xFFFFFFFF


def keep(vpp: Access, name: str, **fields: object) -> None:
    """Add something; it is no error if it is already there."""
    try:
        vpp.call(name, is_add=True, **fields)
    except VppApiError as error:
        if error.retval != EXISTS:
            raise


@dataclass(frozen=True)
class Nat(VppObject):
    """Endpoint-dependent NAT44. ``sessions`` is the capacity of one worker; timeouts are in seconds."""

    kind = "nat"
    plugins: ClassVar[tuple[str, ...]] = ("nat",)
    tables: ClassVar[tuple[Request, ...]] = (CONFIG,)
    gone: ClassVar = {"nat44_ed_plugin_enable_disable": frozenset({ALREADY_DISABLED})}

    sessions: int
    udp_s: int
    tcp_established_s: int
    tcp_transitory_s: int
    icmp_s: int

    @property
    def key(self) -> str:
        """There is one: ``nat/all``."""
        return NAT

    def label(self) -> str:
        """``NAT``."""
        return "NAT"

    def needs_recreate(self, before: Nat) -> bool:
        """The table's size can be set only when NAT is enabled."""
        return self.sessions != before.sessions

    def describe_update(self, before: Nat) -> str:
        """``set the timeouts of NAT``."""
        return "set the timeouts of NAT"

    def removal_impact(self) -> str:
        """Every session."""
        return "ends all NAT sessions"

    def create(self, vpp: Access) -> None:
        """Enable, then set timeouts; VPP's own apply in between."""
        try:
            vpp.call("nat44_ed_plugin_enable_disable", enable=True, sessions=self.sessions)
        except VppApiError as error:
            if error.retval != ALREADY_ENABLED:
                raise
        self._set_timeouts(vpp)

    def update(self, before: Nat, vpp: Access) -> None:
        """Timeouts also apply to existing sessions."""
        self._set_timeouts(vpp)

    def delete(self, vpp: Access) -> None:
        """Disable; VPP discards everything that belongs to it."""
        vpp.call("nat44_ed_plugin_enable_disable", enable=False)

    def _set_timeouts(self, vpp: Access) -> None:
        vpp.call(
            "nat_set_timeouts",
            udp=self.udp_s,
            tcp_established=self.tcp_established_s,
            tcp_transitory=self.tcp_transitory_s,
            icmp=self.icmp_s,
        )

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[Nat]:
        """A disabled NAT has room for no sessions."""
        found = dumps.reply(CONFIG)
        if found is not None and found.sessions:
            times = found.timeouts
            yield cls(found.sessions, times.udp, times.tcp_established, times.tcp_transitory, times.icmp)
