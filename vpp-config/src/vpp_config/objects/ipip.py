"""A tunnel of IP in IP: IPv4 and IPv6 packets in packets of either (RFC 2003, 2473, 4213)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Any, ClassVar

from vpp_config.access import Access
from vpp_config.client import Reply, Request, request
from vpp_config.dumps import ALL, Dumps, InterfaceRow
from vpp_config.leftover import Leftover
from vpp_config.objects.base import Interface, check_name
from vpp_config.objects.link import change, settle

_TUNNELS = request("ipip_tunnel_dump", sw_if_index=ALL)
_POINT_TO_POINT, _ANY_NUMBER = 0, 0xFFFFFFFF


@dataclass(frozen=True)
class IpipTunnel(Interface):
    """VPP's ``ipip<number>``, which carries both families. Its packets leave by table 0, with TTL 64."""

    kind = "ipip"
    tables: ClassVar[tuple[Request, ...]] = (_TUNNELS,)
    clears = ("ipip",)
    gone: ClassVar = {"ipip_del_tunnel": frozenset({-6})}

    name: str
    source: IPv4Address | IPv6Address
    destination: IPv4Address | IPv6Address
    mtu: int = 1480
    enabled: bool = True

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.source.version != self.destination.version:
            raise ValueError("source and destination are of two families")
        if self.source == self.destination:
            raise ValueError("source and destination are the same")

    def needs_recreate(self, before: IpipTunnel) -> bool:
        """Other endpoints."""
        return (self.source, self.destination) != (before.source, before.destination)

    def occupies(self) -> str:
        """The pair of addresses, which is all by which VPP distinguishes tunnels."""
        return _ends_token(self.source, self.destination)

    def create(self, vpp: Access) -> None:
        """Create under a number that VPP chooses, tag, set the MTU."""
        reply = vpp.call("ipip_add_tunnel", tunnel=_tunnel(self.source, self.destination))
        settle(vpp, self, int(reply.sw_if_index))

    def update(self, before: IpipTunnel, vpp: Access) -> None:
        """MTU and state in place."""
        change(vpp, self, before)

    def delete(self, vpp: Access) -> None:
        """Remove the tunnel."""
        vpp.call("ipip_del_tunnel", sw_if_index=vpp.index_of(self.name))
        vpp.forget(self.provides)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[IpipTunnel]:
        """Our tagged tunnels."""
        tunnels = dumps.derived(_by_index)
        for row in dumps.tagged_interfaces():
            tunnel = tunnels.get(row.index)
            if tunnel is not None:
                yield cls(row.name, tunnel.src, tunnel.dst, row.l3_mtu, row.up)

    @classmethod
    def occupied_by(cls, row: InterfaceRow, dumps: Dumps) -> str | None:
        """The pair of addresses of a tunnel."""
        tunnel = dumps.derived(_by_index).get(row.index)
        return None if tunnel is None else _ends_token(tunnel.src, tunnel.dst)

    @classmethod
    def clear(cls, leftover: Leftover, vpp: Access) -> None:
        """Remove it."""
        vpp.call("ipip_del_tunnel", sw_if_index=leftover.index)


def _tunnel(source: IPv4Address | IPv6Address, destination: IPv4Address | IPv6Address) -> dict[str, Any]:
    return {
        "instance": _ANY_NUMBER,
        "src": source,
        "dst": destination,
        "sw_if_index": ALL,
        "table_id": 0,
        "flags": 0,
        "mode": _POINT_TO_POINT,
        "dscp": 0,
    }


def _ends_token(source: IPv4Address | IPv6Address, destination: IPv4Address | IPv6Address) -> str:
    return f"ipip/{source}/{destination}"


def _by_index(dumps: Dumps) -> Mapping[int, Reply]:
    """The tunnels that this kind makes: with one destination, over table 0."""
    return {
        reply.tunnel.sw_if_index: reply.tunnel
        for reply in dumps.table(_TUNNELS)
        if int(reply.tunnel.mode) == _POINT_TO_POINT and not reply.tunnel.table_id
    }
