"""FRR as a backend, on FRR in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.config.load import parse_document
from appliance.engine.backend import PHASES, BackendUnavailable, StepError
from appliance.errors import NotFound
from appliance.routing import FrrBackend
from appliance.routing.rows import bgp_state, ospf_state, rib_rows
from appliance.routing.wanted import WantedRouting
from frr_config import FakeFrr

BGP = {
    "asn": 65000,
    "router_id": "10.0.0.1",
    "neighbors": {"192.0.2.1": {"remote_asn": 65001, "password": "hidden", "ipv4_unicast": {}}},
}


def routing(**parts: Any) -> WantedRouting:
    """The routing part of a document."""
    return WantedRouting.of(parse_document({"routing": parts}))


@pytest.fixture
def frr() -> FakeFrr:
    return FakeFrr()


@pytest.fixture
def backend(frr: FakeFrr) -> FrrBackend:
    return FrrBackend("none", Path("/nowhere"), Path("/nowhere"), client=frr)


def commit(backend: FrrBackend, desired: WantedRouting) -> list[str]:
    """What was done; the second plan has to be empty."""
    steps = sorted(backend.plan(desired, backend.observe()), key=lambda step: PHASES.index(step.phase))
    for step in steps:
        backend.apply(step)
    assert list(backend.plan(desired, backend.observe())) == []
    return [step.summary for step in steps]


def test_apply_then_plan_again_is_empty_and_undo_leads_back(backend: FrrBackend) -> None:
    first = routing(static={"198.51.100.0/24": {"blackhole": True}})
    second = routing(bgp=BGP)
    commit(backend, first)
    before = backend.observe()
    steps = list(backend.plan(second, before))
    for step in steps:
        backend.apply(step)
    for step in reversed(steps):
        backend.undo(step)
    assert backend.observe() == before
    commit(backend, second)
    assert commit(backend, second) == []


def test_nothing_shown_holds_a_secret(backend: FrrBackend) -> None:
    desired = routing(bgp=BGP)
    observed = backend.observe()
    shown = [*backend.diff(desired, observed)]
    for step in backend.plan(desired, observed):
        shown += [step.summary, step.undo_summary, step.impact, step.path]
    assert any("neighbor 192.0.2.1" in line for line in shown)
    assert not any("hidden" in line for line in shown)


def test_a_daemon_that_is_gone_is_unavailable_and_a_refusal_is_a_step_error(
    backend: FrrBackend, frr: FakeFrr
) -> None:
    steps = list(backend.plan(routing(bgp=BGP), backend.observe()))
    frr.fail_next()
    with pytest.raises(StepError):
        for step in steps:
            backend.apply(step)
    frr.kill("bgpd")
    assert backend.health().state == "down"
    with pytest.raises(BackendUnavailable):
        backend.observe()


def test_a_neighbor_that_is_not_there_is_not_found(backend: FrrBackend) -> None:
    with pytest.raises(NotFound):
        backend.bgp_neighbor("203.0.113.1")


def test_rows_take_only_what_they_know() -> None:
    items = [
        {
            "prefix": "10.0.0.0/8",
            "routes": [
                {
                    "prefix": "10.0.0.0/8",
                    "protocol": "bgp",
                    "selected": True,
                    "nexthops": [{"ip": "192.0.2.1"}],
                },
                {"prefix": "10.0.0.0/8", "protocol": "static", "nexthops": [{"unreachable": True}]},
            ],
        }
    ]
    rows = list(rib_rows(items))
    assert [(row.protocol, row.selected) for row in rows] == [("bgp", True), ("static", False)]
    assert rows[1].next_hops[0].blackhole
    summary = {"ipv4Unicast": {"as": 1, "routerId": "1.1.1.1", "peers": {"192.0.2.1": {"pfxRcd": 7}}}}
    known = bgp_state(summary, {"192.0.2.1": {"bgpState": "Established", "surprise": "x"}})
    assert known.neighbors["192.0.2.1"].families["ipv4_unicast"].prefixes_received == 7
    assert "surprise" not in known.model_dump_json()
    assert ospf_state({}, {}, {}).neighbors == ()
