"""Lists of routes in the feeder, compared with those of a real VPP."""

from __future__ import annotations

from ipaddress import IPv4Network, ip_network
from typing import Any

import pytest

from appliance.dataplane.vpp.feeder import FeederClient
from appliance.routing.rows import RibRow
from appliance.state.routes import RouteCount, RoutesQuery
from tests import fpm_stream as fpm
from tests.integration.feeder.conftest import Bench
from tests.integration.frr.harness import wait_until
from vpp_config.fib import fib_lookup

pytestmark = [pytest.mark.vpp, pytest.mark.root]

LAN, WAN = 1, 2
_LABEL = {"is_uniform": 0, "label": 0, "ttl": 0, "exp": 0}
_DROP = {
    "sw_if_index": 0xFFFFFFFF,
    "table_id": 0,
    "rpf_id": 0,
    "weight": 1,
    "preference": 0,
    "type": 2,
    "flags": 0,
    "proto": 0,
    "nh": {"via_label": 0, "obj_id": 0, "classify_table_index": 0},
    "n_labels": 0,
    "label_stack": [_LABEL] * 16,
}
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


def test_a_route_that_vpp_lost_or_has_otherwise_is_found_without_being_asked_for_and_given_again(
    bench: Bench,
) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(fpm.frame(fpm.next_hop(LAN, "192.0.2.2", bench.ifindex("lan0"))))
    zebra.send(fpm.frame(fpm.next_hop(WAN, "192.0.2.18", bench.ifindex("wan0"))))
    zebra.send(fpm.frame(fpm.group(3, [(LAN, 3), (WAN, 1)])))
    kept = {
        "198.51.100.0/24": LAN,
        "198.51.101.0/24": 3,
        "198.51.102.0/24": LAN,
        "2001:db8:100::/48": WAN,
    }
    zebra.send(fpm.frame(fpm.route(prefix, group)) for prefix, group in kept.items())
    zebra.send((fpm.frame(fpm.special("198.51.103.0/24", fpm.BLACKHOLE)),))
    bench.feeder.barrier()
    wait_until(lambda: _compared(bench)["last_pass"] is not None, "a pass over the routes")
    assert _compared(bench)["told_again"] == 0, "nothing differs of what was given"
    before = {prefix: fib_lookup(bench.client, prefix, exact=True) for prefix in kept}
    lost: dict[str, Any] = {"table_id": 0, "prefix": ip_network("198.51.100.0/24"), "n_paths": 0, "paths": []}
    bench.client.call("ip_route_add_del", is_add=False, is_multipath=False, route=lost)
    other = {**lost, "prefix": ip_network("198.51.101.0/24"), "n_paths": 1, "paths": [_DROP]}
    bench.client.call("ip_route_add_del", is_add=True, is_multipath=False, route=other)
    wait_until(lambda: _compared(bench)["told_again"] >= 1, "a route given again", timeout_s=90)
    wait_until(
        lambda: {prefix: fib_lookup(bench.client, prefix, exact=True) for prefix in kept} == before,
        "every route as before",
        timeout_s=90,
    )
    wait_until(lambda: _compared(bench)["differing"] == 0, "no difference")


def _compared(bench: Bench) -> dict[str, Any]:
    found: dict[str, Any] = bench.feeder.status()["proof"]
    return found
