"""When NAT's session table is an alarm."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.document import RouterConfig
from appliance.features.nat.health import filling
from appliance.health.check import Finding, Look
from appliance.health.checks import every_check
from appliance.state.nat import NatState

_ROOM = NatState(in_use=100, limit=1000, fullness=0.1, refused=3)
_FULL = NatState(in_use=1000, limit=1000, fullness=1.0, refused=3)


def _found(now: NatState, before: NatState | None = None, **look: Any) -> list[Finding]:
    return list(filling(Look(now, RouterConfig(), before, 5.0, **look)))


def _with(state: NatState, **other: Any) -> NatState:
    return state.model_copy(update=other)


@pytest.mark.parametrize(
    ("fullness", "stands", "raised"),
    [(0.79, False, False), (0.8, False, True), (0.76, True, True), (0.74, True, False)],
)
def test_it_begins_at_80_percent_and_ends_with_some_room(fullness: float, stands: bool, raised: bool) -> None:
    standing = {("nat_table_filling", "NAT"): 60.0} if stands else {}
    found = _found(_with(_ROOM, fullness=fullness), _ROOM, standing=standing)
    assert [(one.kind, one.severity, one.pointer) for one in found] == (
        [("nat_table_filling", "warning", "/nat")] if raised else []
    )


def test_the_first_look_knows_no_rate() -> None:
    (one,) = _found(_FULL)
    assert one.summary == "NAT's session table is 100% full"
    assert one.evidence == {"in use": "1,000 of 1,000 entries"}


def test_packets_that_are_refused_are_critical() -> None:
    (one,) = _found(_with(_FULL, refused=1203), _FULL)
    assert (one.kind, one.severity) == ("nat_table_full", "critical")
    assert one.summary == "NAT refuses new sessions: 1,200 packets were dropped, because its table is full"
    assert one.evidence["dropped"] == "1,200 packets in 5 s"


def test_sessions_that_are_ended_early_are_less() -> None:
    (one,) = _found(_with(_FULL, evicted=7), _FULL)
    assert (one.kind, one.severity) == ("nat_table_full", "major")
    assert "7 sessions were ended early" in one.summary


def test_packets_that_are_dropped_while_there_is_room_are_none_of_a_full_table() -> None:
    """The kernel counts other failures, too."""
    assert _found(_with(_ROOM, refused=1000), _ROOM) == []


def test_a_data_plane_that_started_again_counts_anew() -> None:
    (one,) = _found(_with(_FULL, refused=0), _with(_FULL, refused=5000))
    assert one.kind == "nat_table_filling"


def test_without_nat_nothing_is_read() -> None:
    check = next(check for check in every_check() if check.name == "NAT's table")
    assert not check.concerns(RouterConfig())
