"""Routes that would lead a tunnel's packets into tunnels again. Left alone, VPP 26.06 crashes over them."""

from __future__ import annotations

from ipaddress import ip_address, ip_interface

import pytest

from appliance.dataplane.vpp.feeder import FeederClient
from tests import fpm_stream as fpm
from tests.integration.feeder.conftest import Bench
from tests.live_lab import wait_until
from vpp_config import Address, LcpPair, Session, VppObject, VppState, plan
from vpp_config.fib import fib_lookup
from vpp_config.objects.gre import GreTunnel
from vpp_config.objects.ipip import IpipTunnel

pytestmark = [pytest.mark.vpp, pytest.mark.root]

LAN, WAN, ONE, OTHER, ATTACHED = 1, 2, 3, 4, 5
FAR, FARTHER = "203.0.113.9", "203.0.113.10"


def _reach(session: Session, wanted: VppState) -> None:
    for step in plan(wanted, session.observe()):
        session.apply(step)
    assert not plan(wanted, session.observe())


def _tunnel(bench: Bench, name: str, far: str, inside: str, *, enabled: bool = True) -> tuple[VppObject, ...]:
    kind = IpipTunnel if name.startswith("ipip") else GreTunnel
    return (
        kind(name, ip_address("192.0.2.1"), ip_address(far), enabled=enabled),
        LcpPair(name, name, bench.vpp.mirror_namespace, "tun"),
        Address(name, ip_interface(inside)),
    )


def _ways(bench: Bench, destination: str) -> set[str]:
    """Where VPP sends it: next hop, or the kind of a special path."""
    found = fib_lookup(bench.client, destination)
    assert found is not None
    return {str(path.next_hop) if path.kind == "normal" else path.kind for path in found.paths}


def test_the_way_to_the_far_end_never_enters_a_tunnel(bench: Bench) -> None:
    """The cases that crashed VPP: a loop of two, and a route that exists before the tunnel is up and is
    then removed.
    """
    feeder = FeederClient(bench.feeder.status_socket)
    session = Session(bench.client, vacate_mirror=lambda _netns, name: feeder.vacated(name))
    stays = tuple(session.observe().values())
    tunnels = (*_tunnel(bench, "gre1", FAR, "10.9.1.1/30"), *_tunnel(bench, "ipip2", FARTHER, "10.9.2.1/30"))
    down = _tunnel(bench, "gre1", FAR, "10.9.1.1/30", enabled=False)
    _reach(session, VppState.of((*stays, *tunnels)))
    zebra = bench.feeder.zebra()
    one, other = bench.ifindex("gre1"), bench.ifindex("ipip2")
    zebra.send(fpm.frame(fpm.next_hop(LAN, "192.0.2.2", bench.ifindex("lan0"))))
    zebra.send(fpm.frame(fpm.next_hop(WAN, "192.0.2.18", bench.ifindex("wan0"))))
    zebra.send(
        fpm.frame(fpm.next_hop(ONE, "10.9.1.2", one)) + fpm.frame(fpm.next_hop(OTHER, "10.9.2.2", other))
    )
    bench.feeder.barrier()
    assert _ways(bench, FAR) == _ways(bench, FARTHER) == {"drop"}

    zebra.send(fpm.frame(fpm.route("0.0.0.0/0", LAN)))
    bench.feeder.barrier()
    assert _ways(bench, FAR) == {"192.0.2.2"}

    # Everything else uses the tunnel, as the routes say; its own packets continue as before.
    for prefix, hop in (("203.0.113.0/24", ONE), (f"{FAR}/32", OTHER), (f"{FARTHER}/32", ONE)):
        zebra.send(fpm.frame(fpm.route(prefix, hop)))
    bench.feeder.barrier()
    assert _ways(bench, "203.0.113.77") == {"10.9.1.2"}
    assert _ways(bench, FAR) == _ways(bench, FARTHER) == {"192.0.2.2"}

    # The better path out is used, and left again when its interface is removed.
    zebra.send(fpm.frame(fpm.route("203.0.113.8/29", WAN)))
    bench.feeder.barrier()
    assert _ways(bench, FAR) == {"192.0.2.18"}
    wait_until(lambda: feeder.state().vpp_swept, timeout_s=60, what="a feeder that knows all routes of VPP")
    with feeder.vacated("wan0"):
        assert _ways(bench, FAR) == {"192.0.2.2"}
    wait_until(lambda: _ways(bench, FAR) == {"192.0.2.18"}, timeout_s=60, what="the mirror used again")

    # Down and up with the routes there; then they go, and come, and go.
    _reach(session, VppState.of((*stays, *down, *tunnels[3:])))
    _reach(session, VppState.of((*stays, *tunnels)))
    for _ in range(2):
        for prefix in ("203.0.113.8/29", "203.0.113.0/24", f"{FAR}/32", f"{FARTHER}/32", "0.0.0.0/0"):
            zebra.send(fpm.frame(fpm.withdraw(prefix)))
        bench.feeder.barrier()
        assert _ways(bench, FAR) == {"drop"}
        for prefix in ("203.0.113.0/24", "0.0.0.0/0", f"{FAR}/32"):
            zebra.send(fpm.frame(fpm.route(prefix, OTHER)))
        bench.feeder.barrier()
        assert (_ways(bench, "203.0.113.77"), _ways(bench, FAR)) == ({"10.9.2.2"}, {"drop"})

    # Without the tunnels the routes are what zebra says.
    zebra.send(fpm.frame(fpm.route("203.0.113.0/24", LAN)) + fpm.frame(fpm.route(f"{FARTHER}/32", WAN)))
    zebra.send(fpm.frame(fpm.withdraw(f"{FAR}/32")))
    _reach(session, VppState.of(stays))
    wait_until(lambda: _ways(bench, FAR) == {"192.0.2.2"}, timeout_s=60, what="a host route less")
    assert _ways(bench, FARTHER) == {"192.0.2.18"}
    assert bench.client.dump("gre_tunnel_v2_dump", sw_if_index=0xFFFFFFFF) == []
    assert bench.client.dump("ipip_tunnel_dump", sw_if_index=0xFFFFFFFF) == []
    zebra.close()


def test_a_far_end_on_the_link_is_reached_by_the_link(bench: Bench) -> None:
    """Routes over the tunnel hold it, too, without a next hop; and a new feeder finds the tunnel there."""
    feeder = FeederClient(bench.feeder.status_socket)
    session = Session(bench.client, vacate_mirror=lambda _netns, name: feeder.vacated(name))
    stays = tuple(session.observe().values())
    _reach(session, VppState.of((*stays, *_tunnel(bench, "gre1", "192.0.2.9", "10.9.1.1/30"))))
    zebra = bench.feeder.zebra()
    zebra.send(fpm.frame(fpm.next_hop(ATTACHED, None, bench.ifindex("gre1"))))
    for prefix in ("192.0.2.8/29", "0.0.0.0/0"):
        zebra.send(fpm.frame(fpm.route(prefix, ATTACHED)))
    bench.feeder.barrier()
    wait_until(lambda: _ways(bench, "192.0.2.9") == {"192.0.2.9"}, timeout_s=60, what="the way by the link")
    assert _ways(bench, "198.51.100.1") == {"None"}
    zebra.close()
    bench.feeder.kill()
    bench.feeder.start()
    zebra = bench.feeder.zebra()
    zebra.send(fpm.frame(fpm.next_hop(WAN, "192.0.2.18", bench.ifindex("wan0"))))
    zebra.send(fpm.frame(fpm.route("0.0.0.0/0", WAN)))
    bench.feeder.barrier()
    wait_until(lambda: feeder.state().vpp_swept, timeout_s=60, what="a feeder that knows all routes of VPP")
    assert (_ways(bench, "192.0.2.9"), _ways(bench, "198.51.100.1")) == ({"192.0.2.9"}, {"192.0.2.18"})
    zebra.close()
    _reach(session, VppState.of(stays))
