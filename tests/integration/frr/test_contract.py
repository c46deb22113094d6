"""FRR's interface to its caller: the same tests for the real one and for the fake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from frr_config import (
    FakeFrr,
    Frr,
    FrrClient,
    FrrCommandError,
    FrrConfig,
    FrrUnavailable,
    Routing,
    plan,
    render,
)
from frr_config.step import Command, Step
from tests.integration.frr.conftest import INTERFACES, configure
from tests.integration.frr.harness import FrrHarness

pytestmark = pytest.mark.root

DOCUMENT: dict[str, Any] = {
    "static": {
        "198.51.100.0/24": {"next_hops": [{"address": "10.9.0.2"}, {"address": "10.9.1.2", "distance": 50}]},
        "2001:db8:77::/48": {"next_hops": [{"address": "fe80::1", "interface": "d0"}], "tag": 7},
        "203.0.113.0/24": {"blackhole": True},
    },
    "bgp": {
        "asn": 65000,
        "router_id": "10.255.0.1",
        "peer_groups": {"g": {"remote_asn": 65001, "password": "shared", "ipv4_unicast": {}}},
        "neighbors": {
            "10.9.0.2": {"peer_group": "g", "description": "one of a group", "bfd_profile": "fast"},
            "10.9.2.2": {"remote_asn": "internal", "ipv4_unicast": {"route_map_in": "m", "allowas_in": 3}},
        },
    },
    "ospf": {
        "router_id": "10.255.0.1",
        "areas": {"1": {"type": "nssa", "no_summary": True}},
        "interfaces": {
            "d1": {"area": "0", "authentication": {"type": "md5", "key": "k|!#"}, "bfd_profile": "plain"}
        },
    },
    "bfd": {"profiles": {"fast": {"transmit_interval_ms": 100, "echo": True}, "plain": {}}},
    "policy": {
        "prefix_lists": {"p": {"rules": {"5": {"action": "permit", "prefix": "10.0.0.0/8", "le": 24}}}},
        "route_maps": {
            "m": {
                "rules": {
                    "10": {
                        "action": "permit",
                        "match": {"prefix_list": "p"},
                        "set": {"local_preference": 5, "metric_type": "type-1", "source": "10.9.0.1"},
                    }
                }
            }
        },
    },
}


class Machine(Protocol):
    """An FRR, and a test's actions on it from outside."""

    @property
    def frr(self) -> FrrClient | FakeFrr: ...
    def kill(self, daemon: str) -> None: ...
    def start(self, daemon: str) -> None: ...
    def type(self, daemon: str, text: str, context: tuple[str, ...] = ()) -> None: ...


class _Fake:
    def __init__(self) -> None:
        self.frr = FakeFrr()
        self.kill, self.start, self.type = self.frr.kill, self.frr.start, self.frr.type


class _Real:
    def __init__(self, harness: FrrHarness) -> None:
        self._harness = harness
        self.frr = harness.client()
        self.kill, self.start = harness.kill, harness.start_daemon

    def type(self, daemon: str, text: str, context: tuple[str, ...] = ()) -> None:
        words = ["configure terminal", *context, text]
        self._harness.vtysh(*words)


@pytest.fixture(params=["fake", "real"])
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    if request.param == "fake":
        yield _Fake()
    else:
        harness: FrrHarness = request.getfixturevalue("empty_router")
        yield _Real(harness)


def _desired(frr: Frr, document: dict[str, Any] | None = None) -> FrrConfig:
    return render(Routing.model_validate(DOCUMENT if document is None else document), frr.version())


def test_applied_configuration_is_read_back(machine: Machine) -> None:
    assert configure(machine.frr, DOCUMENT)
    assert machine.frr.observe() == _desired(machine.frr)
    assert configure(machine.frr, DOCUMENT) == []
    assert configure(machine.frr, {})
    assert machine.frr.observe().is_empty


def test_undo_restores_exactly(machine: Machine) -> None:
    frr = machine.frr
    configure(frr, {**DOCUMENT, "ospf": None})
    before = frr.observe()
    other = {**DOCUMENT, "static": {}, "policy": {"route_maps": {"m": {"rules": {"10": {"action": "deny"}}}}}}
    steps = plan(_desired(frr, other), before)
    for step in steps:
        frr.apply(step)
    assert frr.observe() == _desired(frr, other)
    for step in reversed(steps):
        frr.undo(step)
    assert frr.observe() == before


_LISTS = (
    {"1": ("permit", ".*"), "5": ("permit", "^$"), "20": ("permit", "_65010_"), "100": ("deny", "^$")},
    {"5": ("permit", "^65001_")},
    {"5": ("permit", "^$"), "100": ("deny", "^$")},
    {"5": ("permit", "^$")},
    {"5": ("deny", "^$"), "7": ("permit", "^$")},
    {"7": ("permit", "^$"), "9": ("deny", "^$")},
)
"""AS path lists that permit and deny the same regex: bgpd confuses one such rule with the other."""


@pytest.mark.parametrize("old", range(len(_LISTS)))
@pytest.mark.parametrize("new", range(len(_LISTS)))
def test_a_regex_said_twice_in_an_as_path_list(machine: Machine, old: int, new: int) -> None:
    frr = machine.frr

    def document(number: int) -> dict[str, Any]:
        rules = {sequence: {"action": a, "regex": r} for sequence, (a, r) in _LISTS[number].items()}
        return {"policy": {"as_path_lists": {"a": {"rules": rules}}}}

    configure(frr, document(old))
    before = frr.observe()
    assert before == _desired(frr, document(old))
    steps = plan(_desired(frr, document(new)), before)
    for step in steps:
        frr.apply(step)
    assert frr.observe() == _desired(frr, document(new))
    for step in reversed(steps):
        frr.undo(step)
    assert frr.observe() == before


class _Ended(Exception):
    """The work is stopped between two portions of a step."""


@pytest.mark.parametrize("at", [1, 2])
def test_a_step_of_many_lines_is_ended_between_its_portions_and_put_back(machine: Machine, at: int) -> None:
    frr = machine.frr
    configure(frr, DOCUMENT)
    before = frr.observe()
    lists = {
        f"p{name}": {"rules": {"5": {"action": "permit", "prefix": f"10.{name}.0.0/16"}}}
        for name in range(250)
    }
    policy = {**DOCUMENT["policy"], "prefix_lists": {**DOCUMENT["policy"]["prefix_lists"], **lists}}
    (step,) = plan(_desired(frr, {**DOCUMENT, "policy": policy}), before)
    asked = 0

    def between() -> None:
        nonlocal asked
        asked += 1
        if asked == at:
            raise _Ended

    with pytest.raises(_Ended):
        frr.apply(step, between)
    assert (asked, frr.observe()) == (at, before)
    frr.apply(step, lambda: None)
    assert plan(_desired(frr, {**DOCUMENT, "policy": policy}), frr.observe()) == ()


def test_undo_of_what_was_never_done_does_nothing(machine: Machine) -> None:
    frr = machine.frr
    before = frr.observe()
    for step in reversed(plan(_desired(frr), before)):
        frr.undo(step)
    assert frr.observe() == before


def test_a_refused_line_is_named_and_what_was_begun_put_back(machine: Machine) -> None:
    frr = machine.frr
    configure(frr, DOCUMENT)
    before = frr.observe()
    context = ("router bgp 65000",)
    good = Command(("bgpd",), context, "neighbor 10.9.2.2 description begun")
    bad = Command(("ospfd",), context, "neighbor 10.9.2.2 password hidden-word")
    step = Step(
        "announce", "x", "y", "none", "", (good, bad), (Command(("bgpd",), context, _NO_DESCRIPTION),)
    )
    with pytest.raises(FrrCommandError) as caught:
        frr.apply(step)
    assert caught.value.daemon == "ospfd"
    assert "hidden-word" not in f"{caught.value} {caught.value.line} {caught.value.output}"
    assert frr.observe() == before


_NO_DESCRIPTION = "no neighbor 10.9.2.2 description"


def test_what_was_typed_by_hand_is_drift_and_goes(machine: Machine) -> None:
    frr = machine.frr
    configure(frr, DOCUMENT)
    bgpd, staticd = "bgpd", "mgmtd" if frr.version().has_mgmtd else "staticd"
    machine.type(staticd, "ip route 192.0.2.0/24 10.9.3.9")
    machine.type(bgpd, "bgp log-neighbor-changes", ("router bgp 65000",))
    machine.type(bgpd, "neighbor 10.9.2.2 description by hand", ("router bgp 65000",))
    summaries = [step.summary for step in plan(_desired(frr), frr.observe())]
    assert len(summaries) == 3
    assert summaries[0] == "remove static route 192.0.2.0/24 via 10.9.3.9"
    configure(frr, DOCUMENT)


@pytest.mark.parametrize("daemon", ["bgpd", "ospfd", "zebra"])
def test_a_daemon_that_died_is_named_and_filled_again(machine: Machine, daemon: str) -> None:
    frr = machine.frr
    configure(frr, DOCUMENT)
    machine.kill(daemon)
    with pytest.raises(FrrUnavailable) as caught:
        frr.observe()
    assert caught.value.daemon == daemon
    assert not frr.health()[daemon].running
    machine.start(daemon)
    if not (daemon == "zebra" and frr.version().has_mgmtd):  # mgmtd fills zebra by itself
        assert frr.observe() != _desired(frr)
    configure(frr, DOCUMENT)
    assert frr.observe() == _desired(frr)
    assert all(health.running for health in frr.health().values())


def test_a_half_filled_daemon_can_be_undone_exactly(machine: Machine) -> None:
    """After a restart some daemons have a route map that one lacks: undo removes it from that one alone."""
    frr = machine.frr
    configure(frr, DOCUMENT)
    machine.kill("ospfd")
    machine.start("ospfd")
    before = frr.observe()
    steps = plan(_desired(frr), before)
    for step in steps:
        frr.apply(step)
    for step in reversed(steps):
        frr.undo(step)
    assert frr.observe() == before
    configure(frr, DOCUMENT)


def test_interfaces_of_the_router_are_those_of_the_documents() -> None:
    assert set(INTERFACES) >= {"d0", "d1"}


def test_many_routes_at_once(machine: Machine) -> None:
    frr = machine.frr
    static = {f"198.18.{at}.0/24": {"next_hops": [{"address": "10.9.0.2"}]} for at in range(250)}
    before = frr.observe()
    steps = plan(_desired(frr, {"static": static}), before)
    assert [step.summary[:21] for step in steps] == ["add 250 static routes"]
    frr.apply(steps[0])
    assert frr.observe() == _desired(frr, {"static": static})
    frr.undo(steps[0])
    assert frr.observe() == before


def test_one_refused_among_many_is_named_and_none_stays(machine: Machine) -> None:
    frr = machine.frr
    before = frr.observe()
    daemon = "mgmtd" if frr.version().has_mgmtd else "staticd"
    lines = [f"ip route 198.18.{at}.0/24 10.9.0.2" for at in range(40)]
    do = tuple(Command((daemon,), (), text) for text in [*lines[:20], "router ospf", *lines[20:]])
    undo = tuple(Command((daemon,), (), f"no {text}") for text in reversed(lines))
    with pytest.raises(FrrCommandError) as caught:
        frr.apply(Step("announce", "x", "y", "none", "", do, undo))
    assert (caught.value.daemon, caught.value.line) == (daemon, "router ospf")
    assert frr.observe() == before
