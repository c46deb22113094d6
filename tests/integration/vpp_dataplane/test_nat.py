"""The effect of translation on packets, on VPP: the tests of the linux data plane, and those specific to
VPP.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.integration.linux.conftest import DOCUMENT, run
from tests.integration.linux.test_nat import (
    _REFUSED,
    FORWARDS,
    INSIDE,
    OUTSIDE,
    ROUTER,
    device,
    masquerades,
    removing_one_of_ten_thousand_forwards,
    seen_as,
    serving,
    test_access_lists_see_packets_as_they_are_on_the_wire,
    test_ftp_in_passive_mode,
    test_hosts_get_addresses_of_the_pool_that_no_interface_has,
    test_one_to_one_both_ways,
    test_pings_and_errors_about_them_come_back,
    test_port_forwards_of_the_interface_and_of_another_address,
    test_reflected_sessions_with_nat,
    test_the_routers_own_sessions_are_not_touched,
    with_nat,
)
from tests.integration.vpp.harness import PrivateVpp
from tests.integration.vpp_dataplane.conftest import Router

pytestmark = [pytest.mark.vpp, pytest.mark.root]

__all__ = [
    "test_access_lists_see_packets_as_they_are_on_the_wire",
    "test_ftp_in_passive_mode",
    "test_hosts_get_addresses_of_the_pool_that_no_interface_has",
    "test_one_to_one_both_ways",
    "test_pings_and_errors_about_them_come_back",
    "test_port_forwards_of_the_interface_and_of_another_address",
    "test_reflected_sessions_with_nat",
    "test_the_routers_own_sessions_are_not_touched",
]


@pytest.fixture(autouse=True)
def _namespaces_as_before(vpp: PrivateVpp) -> Iterator[None]:
    """One VPP serves all tests here: changes of a test in the namespaces next to it are reverted."""
    yield
    for number in (0, 1):
        far, device, network = vpp.far(number), f"peer{number}", f"10.77.{number + 1}"
        run(far, "ip", "route", "replace", "default", "via", f"{network}.1")
        for line in run(far, "ip", "-4", "-o", "addr", "show", "dev", device).stdout.splitlines():
            if (address := line.split()[3]) != f"{network}.2/24":
                run(far, "ip", "addr", "del", address, "dev", device)
    run(vpp.far(1), "ip", "link", "del", "far", check=False)
    run(vpp.mirror_namespace, "ip", "route", "del", "10.77.3.0/24", check=False)


_ONE_HOP = """
import socket, sys
one = socket.socket()
one.settimeout(3)
one.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1)
one.connect((sys.argv[1], int(sys.argv[2])))
one.sendall(b"?")
print(one.recv(99).decode())
"""


def test_what_comes_with_a_ttl_of_one_is_lost(router: Router) -> None:
    """Why OSPF and eBGP of one hop are refused on outside interfaces. It goes well without NAT."""
    document = with_nat()
    document["interfaces"]["right0"]["management_services"] = ["ssh"]
    plain = {name: value for name, value in document.items() if name != "nat"}
    with serving(router.middle, "listen", "22"):
        for wanted, answered in ((plain, True), (document, False)):
            router.commit(wanted)
            done = run(router.right, sys.executable, "-c", _ONE_HOP, ROUTER, "22", check=False)
            assert done.stdout.startswith(OUTSIDE) is answered


def test_bgp_of_the_router_goes_both_ways(router: Router) -> None:
    document = with_nat()
    neighbor = {"remote_asn": 65001, "ebgp_multihop": 2, "ipv4_unicast": {}}
    document["routing"] = {"bgp": {"asn": 65000, "neighbors": {OUTSIDE: neighbor}}}
    router.commit(document)
    with serving(router.right, "listen", "179"), serving(router.middle, "listen", "179"):
        assert seen_as(router.middle, "tcp", OUTSIDE, 179) == ROUTER
        assert seen_as(router.right, "tcp", ROUTER, 179) == OUTSIDE


def test_what_is_not_mapped_does_not_come_in(router: Router) -> None:
    router.commit(with_nat())
    with serving(router.left, "listen", "7002"):
        assert seen_as(router.right, "tcp", INSIDE, 7002) is None
    assert not router.ping(router.right, INSIDE)


def test_a_vpp_that_died_gets_its_nat_back(router: Router, vpp: PrivateVpp) -> None:
    document = with_nat(
        port_forwards=FORWARDS,
        static={"host": {"outside_address": "10.77.2.50", "inside_address": "10.77.1.9"}},
    )
    router.commit(document)
    vpp.kill()
    vpp.start()
    router.commit(document)
    for _ in range(5):
        router.ping(router.left, OUTSIDE)
    with serving(router.right, "listen", "7001"):
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) == ROUTER


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_inside_hosts_are_seen_as_the_interface(router: Router, protocol: str) -> None:
    masquerades(router, protocol)


def test_hairpin_where_the_port_stays(router: Router) -> None:
    """The sender is seen as the interface, whatever address was asked. Answers from another port than the one
    asked are not translated back: where the inside port is another one, there is no connection.
    """
    static = {"host": {"outside_address": "10.77.2.50", "inside_address": "10.77.1.9"}}
    inside = {"outside_port": 7002, "inside_address": INSIDE}
    forwards = {
        **FORWARDS,
        "same": {"outside_interface": "right0", **inside},
        "same-udp": {"protocol": "udp", "outside_address": "10.77.2.61", **inside},
    }
    del forwards["web"]
    router.commit(with_nat(port_forwards=forwards, static=static))
    run(router.left, "ip", "addr", "add", "10.77.1.9/24", "dev", device(router.left))
    with serving(router.left, "listen", "7002"):
        assert seen_as(router.left, "tcp", ROUTER, 7002) == ROUTER
        assert seen_as(router.left, "udp", "10.77.2.61", 7002) == ROUTER
        assert seen_as(router.left, "tcp", "10.77.2.50", 7002) == ROUTER
        assert seen_as(router.left, "udp", "10.77.2.60", 53) is None


def test_ten_thousand_forwards(router: Router) -> None:
    """One that goes is one step."""
    assert removing_one_of_ten_thousand_forwards(router) == [
        f"remove NAT mapping of tcp {ROUTER}:10077 to {INSIDE}:10077"
    ]


def test_errors_about_what_the_router_sent_are_lost(router: Router) -> None:
    """They come without NAT."""
    for wanted, told in ((DOCUMENT, "ConnectionRefusedError"), (with_nat(), "TimeoutError")):
        router.commit(wanted)
        done = run(router.middle, sys.executable, "-c", _REFUSED, OUTSIDE)
        assert done.stdout.strip() == told
