"""A Linux mirror of an interface, on which routing protocols run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from planner import Declared
from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import Dumps
from vpp_config.errors import VppError
from vpp_config.objects.base import VppObject
from vpp_config.objects.link import bring, is_up
from vpp_config.tokens import interface_name, interface_token

HostIfType = Literal["tap", "tun"]
_TYPES: tuple[HostIfType, ...] = ("tap", "tun")
_PAIRS = request("lcp_itf_pair_get")


@dataclass(frozen=True)
class LcpPair(VppObject):
    """Linux interface ``host_if_name`` in namespace ``netns`` mirrors ``interface`` (plugin linux_cp).

    An empty ``netns`` means the default of startup.conf and reads back as that, so name it. The mirror takes
    over the MAC when it is made. It takes over only addresses added after that, so they are made after it.
    """

    kind = "lcp_pair"
    mirrored = True
    tables: ClassVar[tuple[Request, ...]] = (_PAIRS,)
    gone: ClassVar = {"lcp_itf_pair_add_del_v3": frozenset({-2})}

    interface: str
    host_if_name: str
    netns: str
    host_if_type: HostIfType = "tap"

    def __post_init__(self) -> None:
        if not 1 <= len(self.host_if_name.encode()) <= 15:
            raise ValueError("host_if_name is not 1 to 15 bytes long")
        if len(self.netns.encode()) > 31:
            raise ValueError("netns is longer than 31 bytes")

    @property
    def key(self) -> str:
        """``lcp_pair/<interface>``: VPP allows one each."""
        return f"lcp_pair/{self.interface}"

    def label(self) -> str:
        """``Linux mirror of wan0``."""
        return f"Linux mirror of {self.interface}"

    def requires(self) -> tuple[str, ...]:
        """The interface."""
        return (interface_token(self.interface),)

    def follows(self, beside: Mapping[str, Declared]) -> tuple[str, ...]:
        """The VRF, because the mirror's routes go to the table that the interface is in when the pair is
        made; and the mirror of the outer interface, on which that of an inner one depends.
        """
        tokens = tuple(f"interface_vrf/{self.interface}/{family}" for family in ("ipv4", "ipv6"))
        base = beside.get(interface_token(self.interface))
        outer = interface_name(base.inside() or "") if base is not None else None
        return tokens if outer is None else (*tokens, f"lcp_pair/{outer}")

    def removal_impact(self) -> str:
        """Routing protocols lose the interface."""
        return f"loses packets on {self.interface}"

    def create(self, vpp: Access) -> None:
        """Create the pair."""
        self._add_del(vpp, is_add=True)

    def delete(self, vpp: Access) -> None:
        """Remove the pair; the Linux interface is removed with it.

        The interface is taken down for that time, so that VPP drops the routes that Linux had through the
        mirror: IPv4 at once, IPv6 when linux_nl learns of it. Otherwise they would outlive the pair, because
        nothing could tell VPP of their end, and VPP 26.06 crashes when a route with a path over a removed
        interface changes. With a feeder the routes are gone when the feeder says so, and the interface stays
        up.
        """
        if vpp.has_feeder:
            with vpp.vacated_mirror(self.netns, self.host_if_name):
                self._add_del(vpp, is_add=False)
            return
        index = vpp.index_of(self.interface)
        was_up = is_up(vpp, index)
        if was_up:
            bring(vpp, index, up=False)
        removed = False
        try:
            vpp.wait_for_netlink()
            self._add_del(vpp, is_add=False)
            removed = True
            if was_up:
                bring(vpp, index, up=True)
        except VppError:
            if removed:
                self._add_del(vpp, is_add=True)
            if was_up:
                bring(vpp, index, up=True)
            raise

    def _add_del(self, vpp: Access, *, is_add: bool) -> None:
        vpp.call(
            "lcp_itf_pair_add_del_v3",
            is_add=is_add,
            sw_if_index=vpp.index_of(self.interface),
            host_if_name=self.host_if_name,
            host_if_type=_TYPES.index(self.host_if_type),
            netns=self.netns,
        )

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[LcpPair]:
        """The pairs of our interfaces."""
        for pair in dumps.table(_PAIRS):
            name = dumps.names.get(pair.phy_sw_if_index)
            if name is not None:
                yield cls(name, pair.host_if_name, pair.netns, _TYPES[int(pair.host_if_type)])
