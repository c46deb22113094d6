"""NAT44 objects: on the fake and on the real VPP, made, changed, undone, removed."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, ip_interface

import pytest

from tests.integration.vpp.conftest import Target
from tests.integration.vpp.harness import nic_mac
from vpp_config import (
    Address,
    AfPacket,
    Ethernet,
    Session,
    VppApiError,
    VppObject,
    VppState,
    plan,
)
from vpp_config.objects.nat import Nat
from vpp_config.objects.nat_interface import NatInterface
from vpp_config.objects.nat_mapping import NatMapping
from vpp_config.objects.nat_own_address import NatOwnAddress
from vpp_config.objects.nat_pool import NatPool

_NAT = Nat(10_000, 300, 7440, 240, 60)
_HOST = IPv4Address("10.1.0.9")


def _at(number: int) -> IPv4Address:
    return IPv4Address("10.0.0.0") + number


_BASE: list[VppObject] = [
    Ethernet("wan0", AfPacket("nic0"), nic_mac(0)),
    Ethernet("lan0", AfPacket("nic1"), nic_mac(1)),
    Address("wan0", ip_interface("10.0.0.1/24")),
]
_FULL: list[VppObject] = [
    _NAT,
    NatPool((_at(1), _at(20), _at(21))),
    NatInterface("wan0", "outside"),
    NatInterface("lan0", "inside"),
    NatOwnAddress(_at(1)),
    NatMapping(_at(50), IPv4Address("10.1.0.50")),
    NatMapping(_at(1), _HOST, "tcp", 443, 8443),
    NatMapping(_at(1), _HOST, "udp", 443, 8443),
    # Two outside ports lead to one place inside.
    NatMapping(_at(2), _HOST, "tcp", 443, 8443),
]
_OTHER: list[VppObject] = [
    Nat(10_000, 60, 600, 30, 10),
    NatPool((_at(20), _at(30))),
    NatInterface("wan0", "inside"),
    NatInterface("lan0", "outside"),
    NatMapping(_at(50), IPv4Address("10.1.0.51")),
    NatMapping(_at(1), _HOST, "tcp", 443, 443),
]
_LARGER: list[VppObject] = [Nat(20_000, 300, 7440, 240, 60), *_FULL[1:]]
_FORMS: dict[str, list[VppObject]] = {"none": [], "full": _FULL, "other": _OTHER, "larger": _LARGER}


def _go(session: Session, objects: list[VppObject]) -> None:
    wanted = VppState.of([*_BASE, *objects])
    for step in plan(wanted, session.observe()):
        session.apply(step)
    seen = session.observe()
    assert plan(wanted, seen) == ()
    assert seen.keys() == wanted.keys()


@pytest.mark.parametrize("before", _FORMS)
@pytest.mark.parametrize("after", _FORMS)
def test_from_each_to_each_and_back(target: Target, before: str, after: str) -> None:
    session = target.session()
    _go(session, _FORMS[before])
    seen = session.observe()
    steps = plan(VppState.of([*_BASE, *_FORMS[after]]), seen)
    for done in (len(steps) // 2, len(steps)):
        for step in steps[:done]:
            session.apply(step)
        for step in reversed(steps):
            session.undo(step)
        assert session.observe() == seen
    _go(session, _FORMS[after])


def test_it_comes_back_after_a_restart(target: Target) -> None:
    session = target.session()
    _go(session, _FULL)
    target.restart()
    _go(session, _FULL)


def test_an_interface_that_goes_leaves_nat(target: Target) -> None:
    """And one that is made anew is in it again."""
    session = target.session()
    _go(session, _FULL)
    moved = [Ethernet("wan0", AfPacket("nic0"), "02:00:00:00:00:77"), *_BASE[1:], *_FULL]
    wanted = VppState.of(moved)
    for step in plan(wanted, session.observe()):
        session.apply(step)
    assert plan(wanted, session.observe()) == ()


def test_what_vpp_refuses(target: Target) -> None:
    call = target.client.call
    pool = {"first_ip_address": _at(7), "last_ip_address": _at(7), "vrf_id": 0xFFFFFFFF}
    assert _retval(lambda: call("nat44_ed_plugin_enable_disable", enable=False)) == -169
    assert _retval(lambda: call("nat44_add_del_address_range", is_add=True, **pool)) == -126
    assert _retval(lambda: call("nat44_add_del_address_range", is_add=False, **pool)) == -6
    call("nat44_ed_plugin_enable_disable", enable=True, sessions=1000)
    assert _retval(lambda: call("nat44_ed_plugin_enable_disable", enable=True, sessions=1000)) == -170
    call("nat44_add_del_address_range", is_add=True, **pool)
    assert _retval(lambda: call("nat44_add_del_address_range", is_add=True, **pool)) == -81


def _retval(asked: Callable[[], object]) -> int:
    with pytest.raises(VppApiError) as caught:
        asked()
    return caught.value.retval
