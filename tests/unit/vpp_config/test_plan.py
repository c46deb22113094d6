"""Planning alone: order, impact, and refusals."""

from __future__ import annotations

import sys
from dataclasses import replace
from ipaddress import ip_interface, ip_network
from types import FrameType
from typing import Any

import pytest

from vpp_config import (
    Acl,
    AclBinding,
    AclRule,
    Address,
    AfPacket,
    Dpdk,
    Ethernet,
    InterfaceVrf,
    LcpPair,
    Leftover,
    Loopback,
    PlanError,
    SubInterface,
    VppObject,
    VppState,
    VrfTable,
    plan,
)

_ANY = ip_network("0.0.0.0/0")
_PERMIT, _DENY = AclRule("permit", _ANY, _ANY), AclRule("deny", _ANY, _ANY)
_WAN = Ethernet("wan0", AfPacket("eth1"), "02:00:00:00:00:01")
_VLAN = SubInterface("wan0.10", "wan0", 10)
_NOTHING = VppState.of(())


def _phases(desired: list[VppObject], observed: list[VppObject]) -> list[tuple[str, str]]:
    return [(step.phase, step.summary) for step in plan(VppState.of(desired), VppState.of(observed))]


def test_a_replaced_access_list_harms_nothing() -> None:
    base: list[VppObject] = [_WAN, AclBinding("wan0", ("edge",))]
    before, after = Acl("edge", (_PERMIT,)), Acl("edge", (_DENY, _PERMIT))
    (step,) = plan(
        VppState.of([*base, after]), VppState.of([*base, before]), paths={"acl/edge": "/acls/edge"}
    )
    assert (step.operation, step.impact, step.path) == ("update", "none", "/acls/edge")
    assert step.summary == "replace the rules of access list edge (2 rules)"
    assert step.undo_summary == "replace the rules of access list edge (1 rule)"


def test_a_binding_is_made_before_the_old_one_breaks() -> None:
    old = [_WAN, Acl("a", (_PERMIT,)), AclBinding("wan0", ("a",))]
    new = [_WAN, Acl("b", (_PERMIT,)), AclBinding("wan0", ("b",))]
    assert _phases(list(new), list(old)) == [
        ("create", "add access list b"),
        ("attach", "set the access lists of interface wan0: in b, out none"),
        ("attach", "remove access list a"),
    ]


def test_nothing_passes_unfiltered() -> None:
    """An interface comes up after its lists are bound, and goes down before they are unbound."""
    objects = [_WAN, Acl("a", (_PERMIT,)), AclBinding("wan0", ("a",))]
    up = [summary for _, summary in _phases(list(objects), [])]
    assert up.index("add access lists of interface wan0") < up.index("enable interface wan0")
    down = [summary for _, summary in _phases([], list(objects))]
    assert down.index("disable interface wan0") < down.index("remove access lists of interface wan0")


def test_order_of_a_whole_router() -> None:
    objects: list[VppObject] = [
        Address("wan0.10", ip_interface("10.0.0.1/24")),
        LcpPair("wan0.10", "wan0.10", "dataplane"),
        LcpPair("wan0", "wan0", "dataplane"),
        InterfaceVrf("wan0.10", "ipv4", 10),
        _VLAN,
        VrfTable(10, "blue", "ipv4"),
        _WAN,
    ]
    keys = ["vrf_table/10/ipv4", "ethernet/wan0", "sub_interface/wan0.10", "interface_vrf/wan0.10/ipv4",
            "lcp_pair/wan0", "lcp_pair/wan0.10", "address/wan0.10/10.0.0.1/24"]  # fmt: skip
    made = [step.key for step in plan(VppState.of(objects), _NOTHING)]
    assert made == [*keys, "ethernet/wan0", "sub_interface/wan0.10"]
    removed = [step.key for step in plan(_NOTHING, VppState.of(objects))]
    assert removed[:2] == ["sub_interface/wan0.10", "ethernet/wan0"]
    assert removed[2:] == [
        "address/wan0.10/10.0.0.1/24", "lcp_pair/wan0.10", "lcp_pair/wan0", "interface_vrf/wan0.10/ipv4",
        "sub_interface/wan0.10", "ethernet/wan0", "vrf_table/10/ipv4",
    ]  # fmt: skip


def test_a_new_mac_takes_everything_on_it_along() -> None:
    base: list[VppObject] = [
        _VLAN, LcpPair("wan0", "wan0", "dataplane"), Address("wan0.10", ip_interface("10.0.0.1/24"))
    ]  # fmt: skip
    steps = plan(VppState.of([*base, replace(_WAN, mac="02:00:00:00:00:02")]), VppState.of([*base, _WAN]))
    for key in ("ethernet/wan0", "sub_interface/wan0.10", "lcp_pair/wan0", "address/wan0.10/10.0.0.1/24"):
        operations = [step.operation for step in steps if step.key == key]
        assert operations.index("delete") < operations.index("create")
    assert "loses packets on wan0" in {step.impact for step in steps}


@pytest.mark.parametrize(("parent", "sub", "first"), [(1400, 1300, "wan0.10"), (9000, 1600, "wan0")])
def test_mtu_inner_shrinks_first_and_outer_grows_first(parent: int, sub: int, first: str) -> None:
    wan = replace(_WAN, attachment=Dpdk("0000:03:00.0"))
    steps = plan(VppState.of([replace(wan, mtu=parent), replace(_VLAN, mtu=sub)]), VppState.of([wan, _VLAN]))
    assert steps[0].key.partition("/")[2] == first
    assert len(steps) == 2


def test_a_sub_interface_follows_its_parent_down() -> None:
    up, down = VppState.of([_WAN, _VLAN]), VppState.of([replace(_WAN, enabled=False), _VLAN])
    steps = plan(down, up)
    assert [step.summary for step in steps] == ["disable interface wan0.10", "disable interface wan0"]
    assert {step.impact for step in steps} == {"loses packets on wan0.10", "loses packets on wan0"}
    settled = VppState.of([replace(_WAN, enabled=False), replace(_VLAN, enabled=False)])
    assert plan(down, settled) == ()
    assert [step.summary for step in plan(up, settled)] == [
        "enable interface wan0",
        "enable interface wan0.10",
    ]


def test_leftovers_go_only_where_they_stand_in_the_way() -> None:
    untagged = Leftover("untagged", "af_packet/eth1", 7, "host-eth1")
    double = Leftover("duplicate", "acl/edge", 3, "millrace:edge")
    observed = VppState.of((), [untagged, double])
    assert [step.key for step in plan(_NOTHING, observed)] == [double.key]
    assert [step.operation for step in plan(VppState.of([_WAN]), observed)] == [
        "clear",
        "clear",
        "create",
        "update",
    ]


def test_what_vpp_chose_is_no_difference() -> None:
    seen = [
        Loopback("lo0", 0, "de:ad:00:00:00:00"),
        Ethernet("wan0", Dpdk("0000:03:00.0"), "02:00:00:00:00:07"),
    ]
    assert _phases([Loopback("lo0", 0), Ethernet("wan0", Dpdk("0000:03:00.0"))], list(seen)) == []


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([Address("wan0", ip_interface("10.0.0.1/24"))], "needs interface wan0"),
        ([_VLAN], "needs interface wan0"),
        ([_WAN, AclBinding("wan0", ("a",))], "needs acl a"),
        ([_WAN, InterfaceVrf("wan0", "ipv4", 10)], "needs vrf_table 10/ipv4"),
        ([_WAN, replace(_VLAN, mtu=9000)], "above its parent's"),
        ([_WAN, _VLAN, SubInterface("x", "wan0.10", 5)], "needs an Ethernet interface as parent"),
    ],
)
def test_a_state_that_contradicts_itself_is_refused(objects: list[VppObject], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan(VppState.of(objects), _NOTHING)


def test_work_grows_with_size_and_no_faster() -> None:
    def lines(count: int) -> int:
        """Lines of Python that planning so many interfaces runs: the same on any machine."""
        objects: list[VppObject] = []
        for number in range(count):
            objects.append(Loopback(f"lo{number}", number))
            objects.append(Address(f"lo{number}", ip_interface(f"10.{number >> 8}.{number & 255}.1/32")))
        state, run, before = VppState.of(objects), 0, sys.gettrace()

        def trace(_frame: FrameType, event: str, _argument: object) -> Any:
            nonlocal run
            run += event == "line"
            return trace

        sys.settrace(trace)
        try:
            steps = plan(state, _NOTHING)
        finally:
            sys.settrace(before)
        assert len(steps) == 3 * count
        return run

    lines(10)
    # Quadratic would be 100 times as many.
    assert lines(1000) < 15 * lines(100)
