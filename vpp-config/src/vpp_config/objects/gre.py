"""A GRE tunnel: IP packets inside IP packets, from one router to another (RFC 2784)."""

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

_TUNNELS = request("gre_tunnel_v2_dump", sw_if_index=ALL)
_LAYER_3, _POINT_TO_POINT, _ANY_NUMBER = 0, 0, 0xFFFFFFFF


@dataclass(frozen=True)
class GreTunnel(Interface):
    """VPP's ``gre<number>``, a layer 3 tunnel without a key. Its packets leave by table 0, with TTL 254."""

    kind = "gre"
    plugins = ("gre",)
    tables: ClassVar[tuple[Request, ...]] = (_TUNNELS,)
    clears = ("gre",)
    gone: ClassVar = {"gre_tunnel_add_del_v2": frozenset({-6})}

    name: str
    source: IPv4Address | IPv6Address
    destination: IPv4Address | IPv6Address
    mtu: int = 1476
    enabled: bool = True

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.source.version != self.destination.version:
            raise ValueError("source and destination are of two families")
        if self.source == self.destination:
            raise ValueError("source and destination are the same")

    def needs_recreate(self, before: GreTunnel) -> bool:
        """Other endpoints."""
        return (self.source, self.destination) != (before.source, before.destination)

    def occupies(self) -> str:
        """The pair of addresses, which is all by which VPP distinguishes tunnels."""
        return _ends_token(self.source, self.destination)

    def create(self, vpp: Access) -> None:
        """Create under a number that VPP chooses, tag, set the MTU."""
        reply = vpp.call("gre_tunnel_add_del_v2", is_add=True, tunnel=_tunnel(self.source, self.destination))
        settle(vpp, self, int(reply.sw_if_index))

    def update(self, before: GreTunnel, vpp: Access) -> None:
        """MTU and state in place."""
        change(vpp, self, before)

    def delete(self, vpp: Access) -> None:
        """Remove the tunnel."""
        vpp.call("gre_tunnel_add_del_v2", is_add=False, tunnel=_tunnel(self.source, self.destination))
        vpp.forget(self.provides)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[GreTunnel]:
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
        for found in vpp.call("gre_tunnel_v2_dump", sw_if_index=leftover.index):
            tunnel = _tunnel(found.tunnel.src, found.tunnel.dst)
            vpp.call("gre_tunnel_add_del_v2", is_add=False, tunnel=tunnel)


def _tunnel(source: IPv4Address | IPv6Address, destination: IPv4Address | IPv6Address) -> dict[str, Any]:
    return {
        "type": _LAYER_3,
        "mode": _POINT_TO_POINT,
        "flags": 0,
        "session_id": 0,
        "instance": _ANY_NUMBER,
        "outer_table_id": 0,
        "sw_if_index": ALL,
        "src": source,
        "dst": destination,
        "key": 0,
    }


def _ends_token(source: IPv4Address | IPv6Address, destination: IPv4Address | IPv6Address) -> str:
    return f"gre/{source}/{destination}"


def _by_index(dumps: Dumps) -> Mapping[int, Reply]:
    """The tunnels that this kind makes: layer 3, with one destination, without a key, over table 0."""
    return {
        reply.tunnel.sw_if_index: reply.tunnel
        for reply in dumps.table(_TUNNELS)
        if (int(reply.tunnel.type), int(reply.tunnel.mode)) == (_LAYER_3, _POINT_TO_POINT)
        and not reply.tunnel.key
        and not reply.tunnel.outer_table_id
    }
