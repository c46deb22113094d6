"""A table whose DHCP clients are relayed to servers elsewhere (RFC 2131, RFC 3046)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import ClassVar

from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import Dumps
from vpp_config.objects.base import VppObject
from vpp_config.objects.vrf_table import table_token

RELAYS = request("dhcp_proxy_dump", is_ip6=False)


@dataclass(frozen=True, order=True)
class DhcpServer:
    """A server, and the table by which it is reached."""

    address: IPv4Address
    table_id: int = 0


@dataclass(frozen=True)
class DhcpRelay(VppObject):
    """VPP's DHCP proxy of the IPv4 table ``table_id``: it takes what clients broadcast on all interfaces.

    ``source`` is the address that packets to a server come from, and giaddr. VPP sends a discover to all
    servers and everything else that is broadcast to the first of them.
    """

    kind = "dhcp_relay"
    plugins: ClassVar[tuple[str, ...]] = ("dhcp",)
    no_drops = frozenset({"DHCP packets relayed to the server", "DHCP packets relayed to clients"})
    tables: ClassVar[tuple[Request, ...]] = (RELAYS,)

    table_id: int
    source: IPv4Address
    servers: tuple[DhcpServer, ...]

    def __post_init__(self) -> None:
        if not self.servers or len(set(self.servers)) != len(self.servers):
            raise ValueError("servers are one or more, each once")

    @property
    def key(self) -> str:
        """``dhcp_relay/<table>``."""
        return f"dhcp_relay/{self.table_id}"

    def label(self) -> str:
        """``DHCP relay of table 0``."""
        return f"DHCP relay of table {self.table_id}"

    def requires(self) -> tuple[str, ...]:
        """The tables but VPP's own, which it would make if they were not there."""
        numbers = {self.table_id, *(server.table_id for server in self.servers)} - {0}
        return tuple(table_token(number, "ipv4") for number in sorted(numbers))

    def removal_impact(self) -> str:
        """Clients that ask meanwhile."""
        return f"loses DHCP packets of clients in table {self.table_id}"

    def create(self, vpp: Access) -> None:
        """Add the servers: VPP takes the source address from the first alone."""
        self._add_del(vpp, is_add=True)

    def delete(self, vpp: Access) -> None:
        """Remove them; VPP takes one that is not there for removed."""
        self._add_del(vpp, is_add=False)

    def _add_del(self, vpp: Access, *, is_add: bool) -> None:
        for server in self.servers:
            vpp.call(
                "dhcp_proxy_config",
                is_add=is_add,
                rx_vrf_id=self.table_id,
                server_vrf_id=server.table_id,
                dhcp_server=server.address,
                dhcp_src_address=self.source,
            )

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[DhcpRelay]:
        """All of IPv4: a table has one, and no tag."""
        for row in dumps.table(RELAYS):
            servers = tuple(DhcpServer(one.dhcp_server, one.server_vrf_id) for one in row.servers)
            yield cls(row.rx_vrf_id, row.dhcp_src_address, servers)
