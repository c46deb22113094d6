"""An interface is removed while zebra sends routes over it, and nobody withdraws them."""

from __future__ import annotations

import threading
from ipaddress import IPv4Interface

import pytest

from appliance.dataplane.vpp.feeder import FeederClient
from appliance.engine.backend import StepError
from tests import fpm_stream as fpm
from tests.integration.feeder.conftest import Bench
from tests.live_lab import wait_until
from vpp_config import Address, LcpPair, Loopback, Session, VppState, plan

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_ROUTES = 60_000
_OVER_LOOPBACK = 70


def _reach(session: Session, wanted: VppState) -> None:
    for step in plan(wanted, session.observe()):
        session.apply(step)


def test_no_route_outlives_its_interface(bench: Bench) -> None:
    """Otherwise VPP 26.06 crashes at the next change of such a route."""
    feeder = FeederClient(bench.feeder.status_socket)
    session = Session(bench.client, vacate_mirror=lambda _netns, name: feeder.vacated(name))
    netns = bench.vpp.mirror_namespace
    stays = tuple(session.observe().values())
    loopback = (
        Loopback("loop2", instance=2, enabled=True),
        LcpPair("loop2", "loop2", netns),
        Address("loop2", IPv4Interface("10.9.2.1/24")),
    )
    _reach(session, VppState.of((*stays, *loopback)))
    zebra = bench.feeder.zebra()
    zebra.send(fpm.frame(fpm.next_hop(_OVER_LOOPBACK, "10.9.2.2", bench.ifindex("loop2"))))
    zebra.send(fpm.frame(fpm.route("203.0.113.0/24", _OVER_LOOPBACK)))
    bench.feeder.barrier()
    wait_until(lambda: feeder.state().vpp_swept, timeout_s=60, what="a feeder that knows all routes of VPP")
    adding = threading.Thread(target=zebra.send, args=(fpm.many_ipv4(_ROUTES, _OVER_LOOPBACK),))
    adding.start()
    wait_until(lambda: feeder.state().ipv4.in_vpp > 1, timeout_s=60, what="the first routes in VPP")
    _reach(session, VppState.of(stays))
    adding.join()
    bench.feeder.barrier()
    state = feeder.state()
    assert (state.ipv4.wanted, state.ipv4.in_vpp, state.ipv4.waiting) == (_ROUTES + 1, 0, _ROUTES + 1)
    # Every route changes: a remaining one would crash VPP here.
    wan = 71
    zebra.send(fpm.frame(fpm.next_hop(wan, "192.0.2.18", bench.ifindex("wan0"))))
    zebra.send(fpm.many_ipv4(_ROUTES, wan))
    bench.feeder.barrier()
    assert feeder.state().ipv4.in_vpp == _ROUTES
    assert not plan(VppState.of(stays), session.observe())
    zebra.close()


def test_without_the_feeder_it_stays(bench: Bench) -> None:
    feeder = FeederClient(bench.feeder.status_socket)
    session = Session(bench.client, vacate_mirror=lambda _netns, name: feeder.vacated(name))
    before = session.observe()
    bench.feeder.kill()
    with pytest.raises(StepError, match="cannot be taken out of VPP"):
        _reach(session, VppState.of(()))
    pairs = [item for item in session.observe().values() if isinstance(item, LcpPair)]
    assert pairs == [item for item in before.values() if isinstance(item, LcpPair)]
