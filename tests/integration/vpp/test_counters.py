"""Counters of the real VPP, compared with the packets sent and with VPP's own command line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_interface, ip_network
from random import Random

import pytest

from appliance.state.forwarding import explain
from tests.integration.vpp.harness import PrivateVpp, nic_mac, run
from tests.integration.vpp.random_states import random_rule
from vpp_config import (
    Acl,
    AclBinding,
    AclRule,
    Address,
    AfPacket,
    Ethernet,
    Session,
    StatsUnavailable,
    VppObject,
    VppState,
    VppUnavailable,
    plan,
    shared_rule,
)
from vpp_config.counters import Counters
from vpp_config.node_counts import NodeCount, added, node_counts

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_ANY = ip_network("0.0.0.0/0")
_ECHO = AclRule("permit", _ANY, _ANY, 1)
_TCP = AclRule("permit", _ANY, _ANY, 6)
_BASE: list[VppObject] = [
    Ethernet("wan0", AfPacket("nic0"), nic_mac(0)),
    Address("wan0", ip_interface("192.0.2.2/30")),
    AclBinding("wan0", ("edge",)),
]


@pytest.fixture(scope="module")
def vpp(private_vpp: PrivateVpp) -> Iterator[PrivateVpp]:
    """VPP with a host next to it."""
    run("ip", "addr", "replace", "192.0.2.1/30", "dev", "peer0", namespace=private_vpp.far(0))
    yield private_vpp
    client = private_vpp.client()
    session = Session(client)
    for step in plan(VppState.of(()), session.observe()):
        session.apply(step)
    client.close()


def _configure(session: Session, *rules: AclRule) -> None:
    desired = VppState.of([*_BASE, Acl("edge", rules)])
    for step in plan(desired, session.observe()):
        session.apply(step)


def _ping(vpp: PrivateVpp, count: int) -> None:
    """Requests are what is counted: the answer to the first may be lost while VPP asks for our MAC."""
    run("ping", "-c", str(count), "-i", "0.02", "-s", "56", "192.0.2.2", namespace=vpp.far(0))


def test_hits_carry_on_when_rules_are_replaced(vpp: PrivateVpp) -> None:
    session = Session(vpp.client())
    counters = Counters(session, vpp.stats_socket)
    _configure(session, _ECHO)
    start = counters.hits()["edge"][0].packets
    _ping(vpp, 10)
    (echo,) = counters.hits()["edge"]
    assert (echo.packets, echo.bytes) == (start + 10, 84 * (start + 10))
    # Replaced in place, the rule moved down: VPP counts from zero, the total goes on.
    _ping(vpp, 5)
    _configure(session, _TCP, _ECHO)
    _ping(vpp, 3)
    hits = counters.hits()["edge"]
    assert (hits[0].packets, hits[1].packets) == (0, start + 18)
    # A rule that was removed and comes back starts from zero.
    _configure(session, AclRule("permit", _ANY, _ANY))
    _configure(session, _ECHO)
    _ping(vpp, 2)
    assert counters.hits()["edge"][0].packets == 2
    counters.close()


def test_the_rules_that_were_sent_are_read_back_as_the_same_objects(vpp: PrivateVpp) -> None:
    random = Random(26)
    rules = tuple(shared_rule(random_rule(random)) for _ in range(2000))
    session = Session(vpp.client())
    _configure(session, *rules)
    (read,) = [item for item in session.observe().values() if isinstance(item, Acl)]
    assert read.rules == rules
    # VPP returns the bytes unchanged; otherwise the result would still be correct, but slow.
    assert all(one is other for one, other in zip(read.rules, rules, strict=True))


def test_interfaces_drops_and_memory(vpp: PrivateVpp) -> None:
    session = Session(vpp.client())
    counters = Counters(session, vpp.stats_socket)
    _configure(session, _TCP)
    before = counters.sample()
    run("ip", "neigh", "replace", "192.0.2.2", "lladdr", nic_mac(0), "dev", "peer0", namespace=vpp.far(0))
    with pytest.raises(RuntimeError, match="100% packet loss"):
        run("ping", "-c", "5", "-i", "0.02", "-W", "1", "192.0.2.2", namespace=vpp.far(0))
    after = counters.sample()
    assert after.interfaces.keys() == {"wan0"}
    rx = after.interfaces["wan0"].rx_packets - before.interfaces["wan0"].rx_packets
    assert 5 <= rx <= 15
    assert after.interfaces["wan0"].rx_drops - before.interfaces["wan0"].rx_drops >= 5
    denied = "acl-plugin-in-ip4-fa: ACL deny packets"
    assert after.drops[denied] - before.drops.get(denied, 0) == 5
    assert after.memory["main heap"].total_bytes == 256 << 20
    assert 0 < after.memory["main heap"].used_bytes < after.memory["main heap"].total_bytes
    assert [worker.name for worker in after.workers] == ["main"]
    counters.close()


def test_nodes_count_what_passed_them(vpp: PrivateVpp) -> None:
    """VPP writes them every ten seconds; what it says is what its command line does."""
    session = Session(vpp.client())
    counters = Counters(session, vpp.stats_socket)
    _configure(session, _ECHO)
    start = counters.read(node_counts)
    _ping(vpp, 20)
    ends = time.monotonic() + 60

    def lists() -> NodeCount:
        now = added(counters.read(node_counts), start)
        return now.get("vpp_main", {}).get("acl-plugin-in-ip4-fa", NodeCount(0, 0, 0))

    while lists().packets < 20 and time.monotonic() < ends:
        time.sleep(0.2)
    seen = lists()
    assert seen.packets >= seen.calls > 0
    assert seen.packets >= 20  # some of those before had not been written yet
    assert 10 < seen.clocks / seen.packets < 1e7
    # On a busy machine VPP is interrupted in one node, next to which the time of the others is negligible.
    even = {
        thread: {name: replace(one, clocks=100 * one.packets) for name, one in nodes.items()}
        for thread, nodes in counters.read(node_counts).items()
    }
    told = explain(even, None, {}, {"acl-plugin": "access lists"})
    assert [one.thread for one in told.threads] == ["vpp_main"]
    assert {"access lists", "route lookup", "receiving"} <= {one.work for one in told.nodes}
    counters.close()


def test_a_sample_is_cheap(vpp: PrivateVpp) -> None:
    """Once a second it must not be noticeable; the bound is generous, because the machine is shared."""
    counters = Counters(Session(vpp.client()), vpp.stats_socket)
    counters.sample()
    start = time.process_time()
    for _ in range(10):
        counters.sample()
    assert (time.process_time() - start) / 10 < 0.1
    counters.close()


def test_vpp_restarts(vpp: PrivateVpp) -> None:
    session = Session(vpp.client())
    counters = Counters(session, vpp.stats_socket)
    _configure(session, _ECHO)
    _ping(vpp, 4)
    total = counters.hits()["edge"][0].packets
    before = counters.sample()
    vpp.kill()
    with pytest.raises((StatsUnavailable, VppUnavailable)):
        counters.sample()
    vpp.start()
    _configure(session, _ECHO)
    counters.hits()  # tells the new VPP to count
    _ping(vpp, 4)
    assert counters.hits()["edge"][0].packets == total + 4
    sample = counters.sample()
    assert sample.interfaces["wan0"].rx_packets < 4 + 10
    # What counts is another VPP, whatever index the interface has now.
    assert 0 < before.started_s < sample.started_s and sample.indexes.keys() == {"wan0"}
    counters.close()
