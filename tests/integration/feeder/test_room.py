"""More routes than VPP has room for: which are held back, what goes on, and that VPP survives."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from appliance.config.load import parse_document
from appliance.config.vpp_heap import heap_uses, taken_bytes
from appliance.dataplane.vpp.feeder import FeederClient
from appliance.dataplane.vpp.sizing import most_routes
from appliance.dataplane.vpp.startup import StartupSettings
from appliance.engine.backend import StepError
from tests import fpm_stream as fpm
from tests.integration.feeder.conftest import Bench
from tests.integration.feeder.test_routes import LAN, WAN, _exact, _next_hops, _via, _wait_until
from vpp_config import Acl, AclBinding, AclRule, Session, VppState, plan

pytestmark = [pytest.mark.vpp, pytest.mark.root]

HEAP_MB, STATS_MB = 256, 32
"""The bench's VPP, which crashes with as many routes as below."""
TOO_MANY = 600_000


def test_what_there_is_no_room_for_comes_when_there_is(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    assert bench.feeder.ask("most 3") == {"most_routes": 3}
    zebra.send(_next_hops(bench))
    zebra.send(fpm.frame(fpm.route(f"198.51.{at}.0/24", LAN)) for at in range(100, 105))
    bench.feeder.barrier()
    status = bench.feeder.status()
    assert status["most_routes"] == 3 and status["vpp"]["refusals"] == {}
    assert {key: status["ipv4"][key] for key in ("wanted", "in_vpp", "held_back", "refused", "waiting")} == {
        "wanted": 5,
        "in_vpp": 3,
        "held_back": 2,
        "refused": 0,
        "waiting": 0,
    }
    assert _exact(bench, "198.51.103.0/24") is _exact(bench, "198.51.104.0/24") is None
    zebra.send(fpm.frame(fpm.route("198.51.100.0/24", WAN)))
    bench.feeder.barrier()
    assert _via(bench, "198.51.100.0/24") == {("192.0.2.18", 1)}, "what VPP has is changed all the same"
    zebra.send(fpm.frame(fpm.withdraw("198.51.100.0/24")))
    _wait_until(lambda: bench.feeder.status()["ipv4"]["held_back"] == 1, "one of those held back")
    bench.feeder.ask("most 100")
    _wait_until(lambda: bench.feeder.status()["ipv4"]["in_vpp"] == 4, "all of them")
    assert _via(bench, "198.51.104.0/24") == {("192.0.2.2", 1)}


@pytest.mark.timeout(180)
def test_vpp_lives_with_more_routes_than_it_has_room_for(bench: Bench) -> None:
    zebra = bench.feeder.zebra()
    most = most_routes(StartupSettings(0, None, HEAP_MB, STATS_MB, 16384))
    bench.feeder.ask(f"most {most}")
    zebra.send(_next_hops(bench))
    zebra.send(fpm.many_ipv4(TOO_MANY, LAN))
    bench.feeder.barrier(120)
    status = bench.feeder.status()
    assert status["ipv4"]["in_vpp"] == most and status["ipv4"]["held_back"] == TOO_MANY - most
    assert status["vpp"]["connections"] == 1, "VPP went away"
    zebra.send(fpm.many_ipv4_withdrawn(TOO_MANY))
    bench.feeder.barrier(120)
    assert bench.feeder.status()["ipv4"] == {**dict.fromkeys(status["ipv4"], 0)}


@pytest.mark.timeout(180)
def test_vpp_lives_when_an_access_list_is_bound_beside_all_routes_that_there_is_room_for(
    bench: Bench,
) -> None:
    """The first one takes 75 MB of the heap, which was counted as room for routes."""
    config = parse_document({"acls": {"one": {"rules": {"10": {"action": "permit"}}}}, "interfaces": {
        "lo0": {"type": "loopback", "acl_in": ["one"]}}})  # fmt: skip
    zebra = bench.feeder.zebra()
    size = StartupSettings(0, None, HEAP_MB, STATS_MB, 16384)
    most = most_routes(size, taken_bytes(heap_uses(config, 0)))
    assert most < most_routes(size) - 90_000
    client = FeederClient(bench.feeder.status_socket)
    client.leave_room(None, most)
    zebra.send(_next_hops(bench))
    zebra.send(fpm.many_ipv4(TOO_MANY, LAN))
    bench.feeder.barrier(120)
    session = Session(bench.vpp.client())
    before = session.observe()
    anywhere = ip_network("0.0.0.0/0")
    bound = [Acl("one", (AclRule("permit", anywhere, anywhere),)), AclBinding("lan0", ("one",), ())]
    for step in plan(VppState.of([*before.values(), *bound]), before):
        session.apply(step)
    room = client.room()
    assert room is not None and (room.most, room.held) == (most, most)
    with pytest.raises(StepError, match=f"there is room for {most - 1:,}"):
        client.leave_room(most, most - 1)
    assert client.room() == room
    assert bench.feeder.status()["vpp"]["connections"] == 1, "VPP went away"
    for step in plan(before, session.observe()):
        session.apply(step)
    zebra.send(fpm.many_ipv4_withdrawn(TOO_MANY))
    bench.feeder.barrier(120)
