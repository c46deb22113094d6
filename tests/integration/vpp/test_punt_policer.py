"""Limits of the packets that VPP hands to Linux: VPP's answers, the object's behavior, and the effect on
packets.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from ipaddress import ip_interface
from typing import Any

import pytest

from tests.integration.vpp.conftest import Target
from tests.integration.vpp.harness import PrivateVpp, nic_mac, run
from vpp_config import (
    Address,
    AfPacket,
    Ethernet,
    LcpPair,
    PuntPolicer,
    Session,
    VppApiError,
    VppClient,
    VppObject,
    VppState,
    plan,
)
from vpp_config.client import Request
from vpp_config.counters import Counters
from vpp_config.objects.punt_policer import policer_index

_ALL = 0xFFFFFFFF
_TRANSMIT, _DROP = {"type": 1, "dscp": 0}, {"type": 0, "dscp": 0}


def _settings(rate_pps: int) -> dict[str, Any]:
    return {
        "cir": rate_pps, "eir": 0, "cb": 100, "eb": 0, "rate_type": 1, "round_type": 0, "type": 0,
        "color_aware": False, "conform_action": _TRANSMIT, "exceed_action": _DROP, "violate_action": _DROP,
    }  # fmt: skip


def _call(client: VppClient, message: str, **fields: Any) -> Any:
    """As ``VppClient.call``, for messages with a field ``name``."""
    answer = client.pipeline([Request(message, fields)])[0]
    if isinstance(answer, VppApiError):
        raise answer
    return answer


@pytest.fixture
def others(target: Target) -> Iterator[tuple[int, int]]:
    """Two policers that are not ours, and their indexes."""
    client = target.client
    first = _call(client, "policer_add", name="theirs-0", infos=_settings(10)).policer_index
    second = _call(client, "policer_add", name="theirs-1", infos=_settings(20)).policer_index
    yield first, second
    for row in client.dump("policer_dump_v2", policer_index=_ALL):
        if row.name.startswith("theirs-"):
            index = policer_index(lambda message, **fields: _call(client, message, **fields), row.name)
            _call(client, "policer_del", policer_index=index)


def test_policers_as_vpp_has_them(target: Target, others: tuple[int, int]) -> None:
    client = target.client
    first, second = others
    assert _retval(client, "policer_add", name="theirs-0", infos=_settings(10)) == -81
    assert _retval(client, "policer_del", policer_index=77) == -6
    assert _retval(client, "policer_update", policer_index=77, infos=_settings(10)) == -6
    _call(client, "policer_update", policer_index=second, infos=_settings(30))
    rows = {row.name: row for row in client.dump("policer_dump_v2", policer_index=_ALL)}
    assert (rows["theirs-0"].cir, rows["theirs-1"].cir, rows["theirs-1"].cb) == (10, 30, 100)
    assert int(rows["theirs-1"].rate_type) == 1
    assert [row.name for row in client.dump("policer_dump_v2", policer_index=second)] == ["theirs-1"]
    assert client.dump("policer_dump_v2", policer_index=77) == []
    _call(client, "policer_del", policer_index=first)
    assert client.dump("policer_dump_v2", policer_index=first) == []


def _retval(client: VppClient, message: str, **fields: Any) -> int:
    with pytest.raises(VppApiError) as caught:
        _call(client, message, **fields)
    return caught.value.retval


def test_unbinding_once_too_often_does_no_harm(target: Target, others: tuple[int, int]) -> None:
    for is_ip6 in (False, True):
        bind = {"policer_index": others[0], "is_ip6": is_ip6}
        for is_add in (False, True, False, False):
            _call(target.client, "ip_punt_police", is_add=is_add, **bind)


def _apply(session: Session, *objects: VppObject) -> None:
    wanted = VppState.of(objects)
    for step in plan(wanted, session.observe()):
        session.apply(step)
    assert session.observe() == wanted


def test_limits_come_change_and_go_and_others_stay(target: Target, others: tuple[int, int]) -> None:
    session = target.session()
    four, six = PuntPolicer("ipv4", 1000, 100), PuntPolicer("ipv6", 2000, 50)
    _apply(session, four, six)
    # A gap before ours: VPP tells no policer's index.
    _call(target.client, "policer_del", policer_index=others[0])
    _apply(session, PuntPolicer("ipv4", 5000, 100), six)
    _apply(session, six)
    _apply(session)
    left = [row.name for row in target.client.dump("policer_dump_v2", policer_index=_ALL)]
    assert left == ["theirs-1"]


def test_a_limit_that_was_half_made_is_finished_and_undone(target: Target) -> None:
    session = target.session()
    limit = PuntPolicer("ipv4", 1000, 100)
    _call(target.client, "policer_add", name="millrace:punt-ipv4", infos=_settings(7))
    (step,) = plan(VppState.of([limit]), VppState.of(()))
    session.apply(step)
    session.apply(step)
    assert session.observe() == VppState.of([limit])
    session.undo(step)
    session.undo(step)
    assert session.observe() == VppState.of(())


_SEND = """
import socket, sys
one = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[2])):
    one.sendto(b"x", (sys.argv[1], 9))
"""
_SENT = 2000


@pytest.mark.vpp
@pytest.mark.root
def test_packets_above_the_limit_are_dropped_and_counted(private_vpp: PrivateVpp) -> None:
    vpp = private_vpp
    far = vpp.far(0)
    run("ip", "addr", "add", "10.9.0.2/24", "dev", "peer0", namespace=far)
    client = vpp.client()
    session = Session(client)
    counters = Counters(session, vpp.stats_socket)
    nic: tuple[VppObject, ...] = (
        Ethernet("wan0", AfPacket("nic0"), nic_mac(0), 1500, True),
        LcpPair("wan0", "wan0", vpp.mirror_namespace),
        Address("wan0", ip_interface("10.9.0.1/24")),
    )
    try:
        _apply(session, *nic, PuntPolicer("ipv4", 100, 100))
        run("ping", "-q", "-c", "5", "-i", "0.2", "-W", "1", "10.9.0.1", namespace=far)
        run(sys.executable, "-c", _SEND, "10.9.0.1", str(_SENT), namespace=far)
        (tight,) = counters.punted()
        assert tight.passed + tight.dropped >= _SENT // 2
        assert tight.dropped > tight.passed
        _apply(session, *nic, PuntPolicer("ipv4", 1_000_000, 100))
        run(sys.executable, "-c", _SEND, "10.9.0.1", str(_SENT), namespace=far)
        (wide,) = counters.punted()
        assert wide.passed >= _SENT // 2
        assert wide.dropped == 0
    finally:
        counters.close()
        _apply(session)
        client.close()
        run("ip", "addr", "del", "10.9.0.2/24", "dev", "peer0", namespace=far)
