"""Routes as zebra sends them, and how a real VPP then forwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests import fpm_stream as fpm
from tests.integration.feeder.conftest import INTERFACES, Bench
from tests.integration.vpp.harness import run
from vpp_config import Family, InterfaceVrf, Session, VppState, VrfTable, plan
from vpp_config.fib import FibRoute, fib_lookup

pytestmark = [pytest.mark.vpp, pytest.mark.root]

LAN, WAN, LAN6, LINK_LOCAL, BOTH = 1, 2, 3, 4, 10
LO, LINUX_LO = 11, 1
VRF = 20


def _wait_until(condition: Callable[[], bool], what: object = "", timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"did not come true in time: {what}"
        time.sleep(0.02)


def _next_hops(bench: Bench) -> bytes:
    lan, wan = bench.ifindex("lan0"), bench.ifindex("wan0")
    return b"".join(
        (
            fpm.frame(fpm.next_hop(LAN, "192.0.2.2", lan)),
            fpm.frame(fpm.next_hop(WAN, "192.0.2.18", wan)),
            fpm.frame(fpm.next_hop(LAN6, "2001:db8::2", lan)),
            fpm.frame(fpm.next_hop(LINK_LOCAL, "fe80::2", wan)),
            fpm.frame(fpm.group(BOTH, [(LAN, 3), (WAN, 1)])),
        )
    )


def _exact(bench: Bench, prefix: str) -> FibRoute | None:
    return fib_lookup(bench.client, prefix, exact=True)


def _via(bench: Bench, prefix: str) -> set[tuple[str, int]]:
    """Next hop and weight of each path; of a special one its kind and 0."""
    found = _exact(bench, prefix)
    assert found is not None, prefix
    return {
        (str(path.next_hop), path.weight) if path.kind == "normal" else (path.kind, 0) for path in found.paths
    }


def test_every_kind_of_route(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(
        (
            fpm.frame(fpm.route("198.51.100.0/24", LAN)),
            fpm.frame(fpm.route("198.51.101.0/24", BOTH)),
            fpm.frame(fpm.route("198.51.102.0/24", LAN6)),
            fpm.frame(fpm.route("198.51.103.0/24", LINK_LOCAL)),
            fpm.frame(fpm.route("2001:db8:100::/48", LAN6)),
            fpm.frame(fpm.route("2001:db8:101::/48", LINK_LOCAL)),
            fpm.frame(fpm.special("198.51.104.0/24", fpm.BLACKHOLE)),
            fpm.frame(fpm.special("198.51.105.0/24", fpm.UNREACHABLE)),
            fpm.frame(fpm.special("2001:db8:102::/48", fpm.PROHIBIT)),
            fpm.frame(fpm.route("0.0.0.0/0", WAN)),
        )
    )
    bench.feeder.barrier()
    assert _via(bench, "198.51.100.0/24") == {("192.0.2.2", 1)}
    assert _via(bench, "198.51.101.0/24") == {("192.0.2.2", 3), ("192.0.2.18", 1)}
    assert _via(bench, "198.51.102.0/24") == {("2001:db8::2", 1)}
    assert _via(bench, "198.51.103.0/24") == {("fe80::2", 1)}
    assert _via(bench, "2001:db8:100::/48") == {("2001:db8::2", 1)}
    assert _via(bench, "2001:db8:101::/48") == {("fe80::2", 1)}
    assert _via(bench, "198.51.104.0/24") == {("drop", 0)}
    assert _via(bench, "198.51.105.0/24") == {("unreachable", 0)}
    assert _via(bench, "2001:db8:102::/48") == {("prohibit", 0)}
    assert _via(bench, "0.0.0.0/0") == {("192.0.2.18", 1)}
    status = bench.feeder.status()
    assert status["ipv4"] == {
        "wanted": 7,
        "in_vpp": 7,
        "stale": 0,
        "refused": 0,
        "waiting": 0,
        "held_back": 0,
    }
    assert status["ipv6"] == {
        "wanted": 3,
        "in_vpp": 3,
        "stale": 0,
        "refused": 0,
        "waiting": 0,
        "held_back": 0,
    }
    assert (status["pending"], status["behind_ms"], status["vpp"]["refused"]) == (0, 0, 0)
    names = bench.client.dump("sw_interface_dump", sw_if_index=0xFFFFFFFF)
    of_vpp = {row.sw_if_index for row in names if row.interface_name.startswith("host-")}
    assert {mirror["name"] for mirror in status["mirrors"]} == {"lan0", "wan0"}
    assert {mirror["sw_if_index"] for mirror in status["mirrors"]} == of_vpp


def test_a_replacement_replaces_all_paths_and_a_withdrawal_takes_them(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route("198.51.100.0/24", BOTH)))
    bench.feeder.barrier()
    zebra.send(fpm.frame(fpm.withdraw("198.51.100.0/24"), fpm.route("198.51.100.0/24", WAN)))
    bench.feeder.barrier()
    assert _via(bench, "198.51.100.0/24") == {("192.0.2.18", 1)}
    assert bench.feeder.status()["vpp"]["taken"] == 0
    zebra.send(fpm.frame(fpm.next_hop(WAN, "192.0.2.19", bench.ifindex("wan0"))))
    bench.feeder.barrier()
    assert _via(bench, "198.51.100.0/24") == {("192.0.2.19", 1)}
    zebra.send(fpm.frame(fpm.withdraw("198.51.100.0/24")))
    bench.feeder.barrier()
    assert _exact(bench, "198.51.100.0/24") is None


def test_a_route_waits_for_its_interface(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(fpm.frame(fpm.next_hop(7, "192.0.2.2", 9999)))
    zebra.send(fpm.frame(fpm.route("198.51.100.0/24", 7)))
    bench.feeder.barrier()
    assert bench.feeder.status()["ipv4"]["waiting"] == 1
    assert _exact(bench, "198.51.100.0/24") is None
    zebra.send(fpm.frame(fpm.next_hop(7, "192.0.2.2", bench.ifindex("lan0"))))
    bench.feeder.barrier()
    assert _via(bench, "198.51.100.0/24") == {("192.0.2.2", 1)}


def test_what_vpp_refuses_is_counted_by_its_number_and_tried_again(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route("198.51.100.0/24", LAN, table=1234)))
    bench.feeder.barrier()
    status = bench.feeder.status()
    assert status["ipv4"]["refused"] == 1
    assert list(status["vpp"]["refusals"]) == ["-3"]  # NO_SUCH_FIB
    bench.client.call(
        "ip_table_add_del_v2",
        is_add=True,
        create_mfib=True,
        table={"table_id": 1234, "is_ip6": False, "name": "blue"},
    )
    _wait_until(lambda: bench.feeder.status()["ipv4"]["refused"] == 0)
    found = fib_lookup(bench.client, "198.51.100.0/24", 1234, exact=True)
    assert found is not None and found.paths[0].next_hop == ip_address("192.0.2.2")


def test_routes_stay_over_the_death_of_zebra_and_only_the_untold_ones_go(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route(f"198.51.{at}.0/24", LAN)) for at in range(100))
    bench.feeder.barrier()
    _wait_until(lambda: not bench.feeder.status()["zebra"]["resync"], bench.feeder.status())
    zebra.close()
    _wait_until(lambda: not bench.feeder.status()["zebra"]["connected"])
    status = bench.feeder.status()
    assert (status["ipv4"]["in_vpp"], status["ipv4"]["stale"]) == (100, 100)
    # The kernel still has one that the new zebra has not sent: its walk is not over.
    run("ip", "route", "add", "198.51.99.0/24", "via", "192.0.2.2", "proto", "186",
        namespace=bench.vpp.mirror_namespace)  # fmt: skip
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route(f"198.51.{at}.0/24", LAN)) for at in range(50))
    _wait_until(lambda: bench.feeder.status()["zebra"]["kernel_routes_not_told"] == 1)
    status = bench.feeder.status()
    assert (status["ipv4"]["in_vpp"], status["ipv4"]["stale"]) == (100, 50)
    zebra.send(fpm.frame(fpm.route("198.51.99.0/24", WAN)))
    _wait_until(lambda: bench.feeder.status()["ipv4"]["wanted"] == 51)
    bench.feeder.barrier()
    assert _exact(bench, "198.51.60.0/24") is None
    assert _via(bench, "198.51.7.0/24") == {("192.0.2.2", 1)}
    assert _via(bench, "198.51.99.0/24") == {("192.0.2.18", 1)}
    assert bench.feeder.status()["zebra"]["swept"] == 49


def test_routes_stay_over_the_death_of_the_feeder_and_only_the_untold_ones_go(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route(f"198.51.{at}.0/24", LAN)) for at in range(100))
    bench.feeder.barrier()
    _wait_until(lambda: not bench.feeder.status()["vpp"]["sweep_due"])
    bench.feeder.kill()
    assert _via(bench, "198.51.99.0/24") == {("192.0.2.2", 1)}
    bench.feeder.start()
    assert bench.feeder.status()["vpp"]["sweep_due"]
    assert _via(bench, "198.51.99.0/24") == {("192.0.2.2", 1)}
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route(f"198.51.{at}.0/24", LAN)) for at in range(50))
    _wait_until(lambda: not bench.feeder.status()["vpp"]["sweep_due"])
    assert _exact(bench, "198.51.60.0/24") is None
    assert _via(bench, "198.51.49.0/24") == {("192.0.2.2", 1)}


def test_a_vpp_that_was_killed_gets_everything_again_over_its_new_interfaces(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route(f"198.51.{at}.0/24", LAN)) for at in range(100))
    zebra.send(fpm.frame(fpm.special("203.0.113.0/24", fpm.BLACKHOLE)))
    bench.feeder.barrier()
    bench.restart_vpp()
    _wait_until(lambda: bool(bench.feeder.status()["vpp"]["connected"]))
    # zebra sends the new mirrors' indexes, as it would those of a new interface.
    zebra.send(_next_hops(bench))
    _wait_until(lambda: bench.feeder.status()["ipv4"]["in_vpp"] == 101, bench.feeder.status())
    bench.feeder.barrier()
    assert _via(bench, "198.51.99.0/24") == {("192.0.2.2", 1)}
    assert _via(bench, "203.0.113.0/24") == {("drop", 0)}


def test_a_vacated_mirror_has_no_routes_until_the_one_who_asked_is_gone(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send((fpm.frame(fpm.route("198.51.100.0/24", BOTH)), fpm.frame(fpm.route("198.51.101.0/24", LAN))))
    bench.feeder.barrier()
    _wait_until(lambda: not bench.feeder.status()["vpp"]["sweep_due"])
    with bench.feeder.vacated("lan0") as answer:
        assert answer["reached"], answer
        assert _via(bench, "198.51.100.0/24") == {("192.0.2.18", 1)}
        assert _exact(bench, "198.51.101.0/24") is None
        # Messages of zebra in the meantime have to wait, too.
        zebra.send(fpm.frame(fpm.route("198.51.102.0/24", LAN)))
        bench.feeder.barrier()
        assert bench.feeder.status()["ipv4"]["waiting"] == 2
        assert _exact(bench, "198.51.102.0/24") is None
    _wait_until(lambda: bench.feeder.status()["ipv4"]["waiting"] == 0)
    bench.feeder.barrier()
    assert _via(bench, "198.51.100.0/24") == {("192.0.2.2", 3), ("192.0.2.18", 1)}
    assert _via(bench, "198.51.102.0/24") == {("192.0.2.2", 1)}


def test_a_mirror_is_not_vacated_while_vpp_holds_routes_that_nobody_knows(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route("198.51.100.0/24", LAN)))
    bench.feeder.barrier()
    bench.feeder.kill()
    bench.feeder.start()
    with bench.feeder.vacated("lan0", timeout_s=0.2) as answer:
        assert not answer["reached"]
    assert _via(bench, "198.51.100.0/24") == {("192.0.2.2", 1)}


def test_a_mirror_that_is_not_there_is_vacant(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    _wait_until(lambda: not bench.feeder.status()["vpp"]["sweep_due"])
    with bench.feeder.vacated("none0") as answer:
        assert answer["reached"]
    zebra.close()


def _sockets(pid: int) -> int:
    """Sockets that a process has open."""
    open_files = Path(f"/proc/{pid}/fd").iterdir()
    return sum(1 for path in open_files if str(path.readlink()).startswith("socket:"))


def test_a_feeder_that_dies_again_and_again_leaves_nothing_open_in_vpp(bench: Bench) -> None:
    """VPP 26.06 hangs for good when it holds 16 sockets whose other ends are closed."""
    connected = _sockets(bench.vpp.pid)
    for _ in range(8):
        bench.feeder.kill()
        bench.feeder.start()
        _wait_until(lambda: bool(bench.feeder.status()["vpp"]["connected"]), bench.feeder.status())
    _wait_until(lambda: _sockets(bench.vpp.pid) <= connected, "VPP closing the sockets of dead feeders")
    assert bench.vpp.cli("show", "version").startswith("vpp v")


def test_a_stranger_on_zebras_port_changes_nothing(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route("198.51.100.0/24", LAN)))
    bench.feeder.barrier()
    stranger = bench.feeder.zebra()
    stranger.send(b"GET / HTTP/1.1\r\n\r\n")
    _wait_until(lambda: not bench.feeder.status()["zebra"]["connected"])
    assert _via(bench, "198.51.100.0/24") == {("192.0.2.2", 1)}
    stranger.close()
    zebra.close()


def test_a_vrf_has_routes_and_multicast_of_its_own(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(
        (
            fpm.frame(fpm.route("198.51.100.0/24", LAN)),
            fpm.frame(fpm.route("198.51.100.0/24", LAN, table=VRF)),
            fpm.frame(fpm.route("2001:db8:100::/48", LAN6, table=VRF)),
        )
    )
    _wait_until(lambda: bench.feeder.status()["ipv4"]["refused"] == 1, "a table that is not there yet")
    assert _exact(bench, "198.51.100.0/24") is not None
    session = Session(bench.client)
    own = session.observe()
    families: tuple[Family, ...] = ("ipv4", "ipv6")
    kept = [item for item in own.values() if item.key.partition("/")[2].partition("/")[0] != "lan0"]
    kept += [VrfTable(VRF, "blue", family) for family in families]
    for state in (
        VppState.of(kept),
        VppState.of(
            [
                *kept,
                *(item for item in own.values() if item not in kept),
                *(InterfaceVrf("lan0", family, VRF) for family in families),
            ]
        ),
    ):
        for step in plan(state, session.observe()):
            session.apply(step)
    lan = bench.ifindex("lan0")
    zebra.send(
        (fpm.frame(fpm.next_hop(LAN, "192.0.2.2", lan)), fpm.frame(fpm.next_hop(LAN6, "2001:db8::2", lan)))
    )
    _wait_until(lambda: bench.feeder.status()["ipv4"]["in_vpp"] == 2, "both routes")
    bench.feeder.barrier()
    for family, prefix, group in (
        ("ip", "198.51.100.0/24", "224.0.0.0/24"),
        ("ip6", "2001:db8:100::/48", "ff00::/8"),
    ):
        shown = bench.vpp.cli("show", family, "fib", "table", str(VRF), prefix)
        assert (prefix in shown and "lan0" in shown) or "host-nic0" in shown, shown
        _wait_until(
            partial(_accepts, bench, family, group), f"{group} of the VRF's own interface", timeout_s=60
        )
    zebra.send(fpm.frame(fpm.withdraw("198.51.100.0/24", table=VRF)))
    bench.feeder.barrier()
    assert _exact(bench, "198.51.100.0/24") is not None, "that of the default VRF stays"


def test_what_leaks_from_the_default_vrf_by_its_device_is_looked_up_there(bench: Bench) -> None:
    session = Session(bench.client)
    tables = (VrfTable(VRF, "blue", "ipv4"), VrfTable(VRF, "blue", "ipv6"))
    for step in plan(VppState.of([*session.observe().values(), *tables]), session.observe()):
        session.apply(step)
    zebra = bench.feeder.zebra()
    zebra.send(_next_hops(bench))
    zebra.send(
        (
            # Since FRR 10: by lo, or by the device of the VRF that it is from.
            fpm.frame(fpm.next_hop(LO, None, LINUX_LO)),
            fpm.frame(fpm.route("192.0.2.0/28", LO, table=VRF)),
            fpm.frame(fpm.route("2001:db8::/64", LO, table=VRF)),
        )
    )
    bench.feeder.barrier()
    for prefix in ("192.0.2.0/28", "2001:db8::/64"):
        found = fib_lookup(bench.client, prefix, VRF, exact=True)
        assert found is not None
        (path,) = found.paths
        assert (path.kind, path.next_hop, path.sw_if_index, path.table_id) == ("normal", None, None, 0)
    _wait_until(lambda: bench.feeder.status()["proof"]["last_pass"] is not None, "a pass over the routes", 60)
    assert bench.feeder.status()["proof"]["told_again"] == 0


def _accepts(bench: Bench, family: str, group: str) -> bool:
    shown = bench.vpp.cli("show", family, "mfib", "table", str(VRF), group)
    return "Accept" in shown and "Forward" in shown


def test_multicast_of_the_link_goes_to_linux_as_linux_nl_would_have_it(bench: Bench) -> None:
    """Otherwise OSPF's hellos would end in VPP."""
    for family, address, group in (("ip", "224.0.0.5", "224.0.0.0/24"), ("ip6", "ff02::5", "ff00::/8")):
        shown = bench.vpp.cli("show", family, "mfib", address)
        assert group in shown, shown
        assert shown.count("Accept") >= len(INTERFACES), shown
        assert "Forward" in shown, shown
