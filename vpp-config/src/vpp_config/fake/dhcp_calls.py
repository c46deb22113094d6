"""The fake's DHCP proxy calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address
from types import SimpleNamespace

from vpp_config.fake.tables import RefusedError, Tables

_INVALID_SOURCE, _INVALID_DESTINATION = -57, -58


@dataclass
class _Proxy:
    source: IPv4Address
    servers: list[tuple[IPv4Address, int]] = field(default_factory=list)


class DhcpCalls:
    """Handlers by message name, of the messages about the DHCP proxy."""

    def __init__(self, held: Tables) -> None:
        self._tables = held
        self._proxies: dict[int, _Proxy] = {}

    def dhcp_proxy_config(
        self,
        is_add: bool,
        rx_vrf_id: int,
        server_vrf_id: int,
        dhcp_server: IPv4Address,
        dhcp_src_address: IPv4Address,
    ) -> None:
        """The first server of a table brings the source address; removing one that is missing is no error."""
        if not int(dhcp_server):
            raise RefusedError(_INVALID_DESTINATION)
        if not int(dhcp_src_address):
            raise RefusedError(_INVALID_SOURCE)
        server = (dhcp_server, server_vrf_id)
        proxy = self._proxies.get(rx_vrf_id)
        if is_add:
            for number in (rx_vrf_id, server_vrf_id):
                assert (number, False) in self._tables.ip_tables, "VPP would make the table itself"
            if proxy is None:
                proxy = self._proxies[rx_vrf_id] = _Proxy(dhcp_src_address)
            if server not in proxy.servers:
                proxy.servers.append(server)
        elif proxy is not None and server in proxy.servers:
            proxy.servers.remove(server)
            if not proxy.servers:
                del self._proxies[rx_vrf_id]

    def dhcp_proxy_dump(self, is_ip6: bool) -> list[SimpleNamespace]:
        """Of IPv4 there may be some."""
        assert not is_ip6
        return [
            SimpleNamespace(
                rx_vrf_id=number,
                dhcp_src_address=proxy.source,
                servers=[
                    SimpleNamespace(dhcp_server=address, server_vrf_id=table)
                    for address, table in proxy.servers
                ],
            )
            for number, proxy in self._proxies.items()
        ]
