"""Lists of routes that the feeder keeps, beside what a real VPP has."""

from __future__ import annotations

from ipaddress import IPv4Network, ip_network

import pytest

from appliance.dataplane.vpp.feeder import FeederClient
from appliance.routing.rows import RibRow
from appliance.state.routes import RouteCount, RoutesQuery
from tests import fpm_stream as fpm
from tests.integration.feeder.conftest import Bench
from vpp_config.fib import fib_lookup

pytestmark = [pytest.mark.vpp, pytest.mark.root]

LAN, WAN = 1, 2
COUNT = 3000


def _client(bench: Bench) -> FeederClient:
    return FeederClient(bench.feeder.status_socket)


def _all(client: FeederClient, query: RoutesQuery, total: int) -> list[RibRow]:
    rows: list[RibRow] = []
    for offset in range(0, total + 700, 700):
        page = client.route_page("ipv4", query, offset, 700)
        assert page.total == total
        rows += page.rows
    return rows


def test_pages_hold_each_route_once_in_order_and_as_vpp_has_it(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(fpm.frame(fpm.next_hop(LAN, "192.0.2.2", bench.ifindex("lan0"))))
    zebra.send(fpm.frame(fpm.next_hop(WAN, "192.0.2.18", bench.ifindex("wan0"))))
    prefixes = [str(IPv4Network((0x10000000 + (at * 7919 % COUNT << 8), 24))) for at in range(COUNT)]
    zebra.send(fpm.frame(fpm.route(prefix, WAN if at % 10 else LAN)) for at, prefix in enumerate(prefixes))
    zebra.send((fpm.frame(fpm.special("16.0.0.0/8", fpm.BLACKHOLE)),))
    bench.feeder.barrier()
    client = _client(bench)
    assert client.route_counts()["ipv4"] == {"bgp": RouteCount(rib=COUNT + 1, fib=COUNT + 1)}
    rows = _all(client, RoutesQuery(), COUNT + 1)
    assert [row.prefix for row in rows] == [
        str(one) for one in sorted((ip_network(one) for one in [*prefixes, "16.0.0.0/8"]), key=_order)
    ]
    assert (rows[0].prefix, rows[0].next_hops[0].blackhole) == ("16.0.0.0/8", True)
    for row in rows[1:COUNT:97]:
        (hop,) = row.next_hops
        found = fib_lookup(bench.client, row.prefix, exact=True)
        assert found is not None and row.installed
        assert [str(path.next_hop) for path in found.paths] == [hop.address]
        assert hop.interface == ("lan0" if hop.address == "192.0.2.2" else "wan0")
    by_lan = RoutesQuery(next_hop="192.0.2.2")
    assert len(_all(client, by_lan, COUNT // 10)) == COUNT // 10
    inside = RoutesQuery(prefix="16.0.4.0/22", within=True)
    assert [row.prefix for row in _all(client, inside, 4)] == [f"16.0.{third}.0/24" for third in (4, 5, 6, 7)]
    assert client.route_page("ipv4", RoutesQuery(protocol="ospf"), 0, 10).total == 0


def _order(network: object) -> tuple[int, int]:
    assert isinstance(network, IPv4Network)
    return int(network.network_address), network.prefixlen


def test_a_route_that_vpp_does_not_have_is_listed_as_not_installed(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(fpm.frame(fpm.next_hop(LAN, "192.0.2.2", 4_000_000)))
    zebra.send((fpm.frame(fpm.route("198.51.100.0/24", LAN)),))
    bench.feeder.barrier()
    (row,) = _client(bench).route_page("ipv4", RoutesQuery(), 0, 10).rows
    assert (row.prefix, row.installed, row.next_hops[0].interface) == ("198.51.100.0/24", False, None)
