"""Mirrors that outlive VPP: which are kept, and the plan that takes them up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from ipaddress import IPv4Network, ip_interface
from types import SimpleNamespace
from typing import Any, cast

import pytest

import vpp_config as vpp
from appliance.dataplane.linux.state import KernelSettings
from appliance.dataplane.namespace import Namespace
from appliance.dataplane.vpp.carrying_out import VppSteps
from appliance.dataplane.vpp.kept_mirrors import KeptMirrors
from appliance.dataplane.vpp.plan import RestartStep, TakeUpStep, VppStep, plan
from appliance.dataplane.vpp.startup import UNSAID, StartupSettings
from appliance.dataplane.vpp.state import VppDataplaneState, mirrored
from vpp_config import VppState
from vpp_config.objects.ethernet import AfPacket

WAN = vpp.Ethernet("wan0", AfPacket("nic-wan"), mac="02:00:00:00:00:01")
LAN = vpp.Ethernet("lan0", AfPacket("nic-lan"), mac="02:00:00:00:00:02")
OFF = replace(LAN, name="off0", attachment=AfPacket("nic-off"), mac="02:00:00:00:00:03", enabled=False)
VLAN = vpp.SubInterface("lan0.7", "lan0", 7)
ANY = IPv4Network("0.0.0.0/0")
RED = vpp.VrfTable(10, "red", "ipv4")


def _pair(name: str) -> vpp.LcpPair:
    return vpp.LcpPair(name, name, "dataplane")


def _address(name: str, address: str) -> vpp.Address:
    return vpp.Address(name, ip_interface(address))


OBJECTS: tuple[vpp.VppObject, ...] = (
    WAN, LAN, OFF, VLAN, RED,
    vpp.SubInterface("off0.8", "off0", 8, enabled=False),
    *(_pair(name) for name in ("wan0", "lan0", "off0", "lan0.7", "off0.8")),
    vpp.InterfaceVrf("off0", "ipv4", 10),
    _address("wan0", "192.0.2.1/24"), _address("lan0.7", "198.51.100.1/24"), _address("off0", "10.9.9.9/24"),
    vpp.Acl("guard", (vpp.AclRule("permit", ANY, ANY),)),
    vpp.AclBinding("wan0", inbound=("guard",)),
)  # fmt: skip
STATE = VppState.of(OBJECTS)
TAPS = {"wan0", "lan0", "off0"}


class _Here:
    """A namespace that runs every call immediately."""

    def run(self, work: Callable[..., Any], *args: Any) -> Any:
        return work(*args)


class _Queues:
    """Queues of mirrors: pipes, which have descriptors that can be seen to be closed."""

    def __init__(self) -> None:
        self.opened: dict[str, int] = {}
        self.lacking: set[str] = set()
        self.error: OSError | None = None
        self._others: list[int] = []

    def open(self, name: str, mode: str) -> int | None:
        assert mode == "tap"
        if self.error is not None:
            raise self.error
        if name in self.lacking:
            return None
        reading, self.opened[name] = os.pipe()
        self._others.append(reading)
        return self.opened[name]

    def is_open(self, name: str) -> bool:
        try:
            os.fstat(self.opened[name])
        except OSError:
            return False
        return True

    def close(self) -> None:
        for one in self._others:
            os.close(one)


@pytest.fixture
def queues() -> Iterator[_Queues]:
    made = _Queues()
    yield made
    made.close()


@pytest.fixture
def kept(queues: _Queues) -> Iterator[KeptMirrors]:
    made = KeptMirrors(cast(Namespace, _Here()), queues.open)
    yield made
    made.release()


def _without(*keys: str) -> VppState:
    return VppState.of(item for item in OBJECTS if item.key not in keys)


def _desired(objects: VppState, startup: StartupSettings | None = None) -> VppDataplaneState:
    return VppDataplaneState(objects, startup, KernelSettings(()), None)


def _steps(desired: VppState, observed: VppState, kept: VppState) -> list[VppStep]:
    return plan(_desired(desired), _desired(observed), mirrored(kept))


# -- which are kept


def test_every_tap_is_kept_and_nothing_is_opened_twice(kept: KeptMirrors, queues: _Queues) -> None:
    kept.keep(STATE)
    assert queues.opened.keys() == TAPS, "a VLAN's mirror stands on that of its NIC"
    assert kept.shown == mirrored(STATE)
    before = dict(queues.opened)
    kept.keep(VppState.of(OBJECTS))
    assert queues.opened == before


def test_what_is_not_in_the_state_any_more_is_let_go(kept: KeptMirrors, queues: _Queues) -> None:
    kept.keep(STATE)
    less = _without("lcp_pair/wan0", "address/wan0/192.0.2.1/24")
    kept.keep(less)
    assert [queues.is_open(name) for name in ("wan0", "lan0", "off0")] == [False, True, True]
    assert kept.shown == mirrored(less)


def test_one_that_cannot_be_kept_means_that_none_is_taken_up(kept: KeptMirrors, queues: _Queues) -> None:
    queues.lacking = {"lan0"}
    kept.keep(STATE)
    assert kept.shown is None
    queues.lacking, queues.error = set(), PermissionError("not here")
    kept.keep(_without("address/off0/10.9.9.9/24"))
    assert kept.shown is None
    queues.error = None
    kept.keep(STATE)
    assert kept.shown == mirrored(STATE)


def test_while_a_mirror_is_made_or_removed_none_is_kept(kept: KeptMirrors, queues: _Queues) -> None:
    """A preview that read the state before may end meanwhile: what it kept would never be released."""
    kept.keep(STATE)
    with kept.changing("wan0"):
        assert not queues.is_open("wan0") and queues.is_open("lan0")
        kept.keep(STATE)
        assert not queues.is_open("wan0") and kept.shown is None and not kept.whole
    kept.keep(STATE)
    assert queues.is_open("wan0") and kept.shown == mirrored(STATE)


def test_after_a_change_it_is_not_known_what_mirrors_show_until_vpp_was_seen(
    kept: KeptMirrors, queues: _Queues
) -> None:
    """VPP may die between an address that it copied to the mirror and the reading of it."""
    kept.keep(STATE)
    with kept.changing():
        pass
    assert kept.shown is None and kept.whole and all(queues.is_open(name) for name in TAPS)
    kept.keep(STATE)
    assert kept.shown == mirrored(STATE)


def test_steps_tell_of_what_they_change(kept: KeptMirrors, queues: _Queues) -> None:
    done: list[str] = []
    session = SimpleNamespace(apply=lambda step: done.append(step.key), undo=lambda _: None)
    here = cast(Any, _Here())
    steps = VppSteps(
        cast(Any, session), cast(Any, None), (), here, cast(Any, None), here, kept,
        startup_conf=None, services=None, feeder=None,
    )  # fmt: skip
    for step in vpp.plan(_without("lcp_pair/wan0", "acl_binding/wan0"), STATE):
        for way in (steps.apply, steps.undo):
            kept.keep(VppState.of(OBJECTS))
            way(step)
            assert queues.is_open("wan0") is (step.key != "lcp_pair/wan0")
            assert (kept.shown is not None) is step.key.startswith("acl_binding/"), step
    assert {"lcp_pair/wan0", "acl_binding/wan0", "address/wan0/192.0.2.1/24"} <= {*done}


def test_all_are_let_go_at_once(kept: KeptMirrors, queues: _Queues) -> None:
    kept.keep(STATE)
    kept.release()
    assert not any(queues.is_open(name) for name in TAPS) and kept.shown is None


# -- the plan


def test_a_new_vpp_takes_up_each_mirror_once_its_interface_is_up() -> None:
    plain = plan(_desired(STATE), _desired(VppState.of(())))
    steps = _steps(STATE, VppState.of(()), STATE)
    assert sorted(step.key for step in steps) == sorted(step.key for step in plain)
    taken = [step for step in steps if isinstance(step, TakeUpStep)]
    assert {step.key for step in taken} == {item.key for item in OBJECTS if item.kind == "lcp_pair"}
    place = {step.key: number for number, step in enumerate(steps)}
    for pair in taken:
        interface = STATE.interfaces()[pair.interface]
        assert place[interface.key] < place[pair.key], "the last step of the interface wakes it"
    assert place["lcp_pair/lan0"] < place["lcp_pair/lan0.7"]
    assert place["lcp_pair/off0"] < place["lcp_pair/off0.8"]
    assert place["interface_vrf/off0/ipv4"] < place["lcp_pair/off0"]
    # The engine sorts the steps of all backends by phase, and keeps the order within one.
    phases = ("withdraw", "detach", "delete", "create", "attach", "announce")
    assert [*steps] == sorted(steps, key=lambda step: phases.index(step.phase))


def test_what_packets_meet_stands_before_they_can_come() -> None:
    steps = _steps(STATE, VppState.of(()), STATE)
    place = {step.key: number for number, step in enumerate(steps)}
    assert max(place["address/wan0/192.0.2.1/24"], place["acl_binding/wan0"]) < place["ethernet/wan0"]


@pytest.mark.parametrize(
    "other",
    [
        _without("address/wan0/192.0.2.1/24"),
        _without("interface_vrf/off0/ipv4"),
        _without("lcp_pair/off0.8"),
        VppState.of([*_without("ethernet/wan0").values(), replace(WAN, mac="02:00:00:00:00:09")]),
    ],
)
def test_mirrors_that_show_something_else_are_made_anew(other: VppState) -> None:
    steps = _steps(STATE, VppState.of(()), other)
    assert steps == plan(_desired(STATE), _desired(VppState.of(())))
    assert not any(isinstance(step, TakeUpStep) for step in steps)


def test_another_access_list_does_not_matter_to_mirrors() -> None:
    steps = _steps(STATE, VppState.of(()), _without("acl/guard", "acl_binding/wan0"))
    assert sum(isinstance(step, TakeUpStep) for step in steps) == 5


def test_a_commit_that_restarts_vpp_has_the_new_one_take_them_up() -> None:
    before, after = UNSAID, replace(UNSAID, main_heap_mb=2048)
    steps = plan(_desired(STATE, after), _desired(STATE, before), mirrored(STATE))
    assert isinstance(steps[0], RestartStep)
    assert sum(isinstance(step, TakeUpStep) for step in steps) == 5


def test_nothing_is_planned_where_vpp_has_it_all() -> None:
    assert _steps(STATE, STATE, STATE) == []
