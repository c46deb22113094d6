"""Mirrors and tables that are created and removed, next hops that change their numbers, and VPP's
resulting routes.
"""

from __future__ import annotations

import pytest

from tests import fpm_stream as fpm
from tests.integration.feeder.conftest import Bench
from tests.integration.feeder.test_routes import LAN, WAN, _exact, _next_hops, _via, _wait_until
from vpp_config.fib import fib_lookup

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_OTHERS, _FIRST = 6000, 1000
"""More next-hop objects than the feeder remembers without a route."""
_VRF = 1234


def _table(bench: Bench, *, is_add: bool, table: int = _VRF) -> None:
    named = {"table_id": table, "is_ip6": False, "name": "blue"}
    bench.client.call("ip_table_add_del_v2", is_add=is_add, create_mfib=is_add, table=named)


def test_a_vacated_mirror_has_no_routes_however_many_next_hops_came_and_went(bench: Bench) -> None:
    """VPP 26.06 crashes over a route that outlives its interface."""
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route("198.51.100.0/24", LAN)))
    # Comparing a route brings its next hops back into memory: a long table is compared once in many minutes.
    _wait_until(lambda: bench.feeder.status()["proof"]["last_pass"] is not None, "a pass over the routes", 60)
    wan, others = bench.ifindex("wan0"), range(_OTHERS)
    for at in others:
        prefix, number = f"10.{at >> 8}.{at & 255}.0/24", _FIRST + at
        zebra.send(fpm.frame(fpm.next_hop(number, "192.0.2.18", wan)) + fpm.frame(fpm.route(prefix, number)))
    bench.feeder.barrier()
    assert bench.feeder.status()["ipv4"]["in_vpp"] == _OTHERS + 1
    zebra.send(fpm.frame(fpm.withdraw(f"10.{at >> 8}.{at & 255}.0/24")) for at in others)
    zebra.send(fpm.frame(fpm.next_hop_gone(_FIRST + at)) for at in others)
    bench.feeder.barrier()
    zebra.send(fpm.frame(fpm.special("203.0.113.0/24", fpm.BLACKHOLE)))
    bench.feeder.barrier()
    with bench.feeder.vacated("lan0") as answer:
        assert answer["reached"], answer
        assert _exact(bench, "198.51.100.0/24") is None


def test_a_mirror_is_vacant_while_anybody_keeps_it_so(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route("198.51.100.0/24", LAN)))
    bench.feeder.barrier()
    _wait_until(lambda: not bench.feeder.status()["vpp"]["sweep_due"])
    with bench.feeder.vacated("lan0"):
        with bench.feeder.vacated("lan0") as answer:
            assert answer["reached"], answer
        with bench.feeder.vacated("none0"):  # reads the mirrors
            bench.feeder.barrier()
            assert _exact(bench, "198.51.100.0/24") is None
    _wait_until(lambda: bench.feeder.status()["ipv4"]["in_vpp"] == 1)


def test_a_mirror_that_goes_without_a_word_takes_its_routes_along(bench: Bench) -> None:
    """VPP gives its number to the next interface."""
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route("198.51.100.0/24", LAN)))
    bench.feeder.barrier()
    (mirror,) = [pair for pair in bench.feeder.status()["mirrors"] if pair["name"] == "lan0"]
    bench.client.call(
        "lcp_itf_pair_add_del",
        is_add=False,
        sw_if_index=mirror["sw_if_index"],
        host_if_name="lan0",
        host_if_type=0,
        netns=bench.vpp.mirror_namespace,
    )
    _wait_until(lambda: bench.feeder.status()["ipv4"]["waiting"] == 1, "a route without a mirror")
    bench.feeder.barrier()
    assert _exact(bench, "198.51.100.0/24") is None


def test_a_table_that_came_and_went_before_anybody_read_the_tables_has_no_routes(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    # The tables are read every few seconds: of three such tables at most one is seen.
    for table in (_VRF, _VRF + 1, _VRF + 2):
        _table(bench, is_add=True, table=table)
        zebra.send(fpm.frame(fpm.route("198.51.100.0/24", LAN, table=table)))
        _wait_until(lambda: bench.feeder.status()["ipv4"]["in_vpp"] == 1, f"the route in {table}")
        _table(bench, is_add=False, table=table)
        _wait_until(lambda: bench.feeder.status()["ipv4"]["in_vpp"] == 0, f"the end of {table}", timeout_s=60)


def test_a_table_that_went_and_came_again_has_its_routes(bench: Bench) -> None:
    _table(bench, is_add=True)
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route("198.51.100.0/24", LAN, table=_VRF)))
    _wait_until(lambda: bench.feeder.status()["ipv4"]["in_vpp"] == 1, "the route")
    _table(bench, is_add=False)
    _wait_until(lambda: bench.feeder.status()["ipv4"]["in_vpp"] == 0, "the end of the table", timeout_s=60)
    assert bench.feeder.status()["ipv4"]["wanted"] == 1
    _table(bench, is_add=True)
    _wait_until(lambda: bench.feeder.status()["ipv4"]["in_vpp"] == 1, "the route again", timeout_s=60)
    assert fib_lookup(bench.client, "198.51.100.0/24", _VRF, exact=True) is not None


def test_a_new_zebra_s_numbers_move_none_of_the_old_one_s_routes(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send((fpm.frame(fpm.route("198.51.100.0/24", LAN)), fpm.frame(fpm.route("198.51.101.0/24", WAN))))
    bench.feeder.barrier()
    given = bench.feeder.status()["vpp"]["given"]
    zebra.close()
    _wait_until(lambda: not bench.feeder.status()["zebra"]["connected"])
    zebra = bench.feeder.zebra()
    zebra.send(
        (
            fpm.frame(fpm.next_hop(LAN, "192.0.2.18", bench.ifindex("wan0"))),
            fpm.frame(fpm.next_hop(WAN, "192.0.2.2", bench.ifindex("lan0"))),
        )
    )
    bench.feeder.barrier()
    assert _via(bench, "198.51.100.0/24") == {("192.0.2.2", 1)}
    assert _via(bench, "198.51.101.0/24") == {("192.0.2.18", 1)}
    zebra.send((fpm.frame(fpm.route("198.51.100.0/24", WAN)), fpm.frame(fpm.route("198.51.101.0/24", LAN))))
    bench.feeder.barrier()
    assert bench.feeder.status()["vpp"]["given"] == given, "both lead where they led"
    _wait_until(lambda: not bench.feeder.status()["zebra"]["resync"])
    with bench.feeder.vacated("lan0") as answer:
        assert answer["reached"], answer
        assert _exact(bench, "198.51.100.0/24") is None
        assert _via(bench, "198.51.101.0/24") == {("192.0.2.18", 1)}
