"""Which interfaces the steps of a plan take down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from appliance.engine.foretold import taken_down
from appliance.engine.records import PlannedStep


@dataclass(frozen=True)
class _Step:
    phase: str
    path: str
    impact: str


def _planned(phase: str, path: str, impact: str) -> PlannedStep:
    return PlannedStep(cast(Any, None), cast(Any, _Step(phase, path, impact)))


def test_an_interface_that_is_made_anew_is_taken_down() -> None:
    plan = [
        _planned("detach", "/interfaces/wan0", "loses packets on wan0"),
        _planned("create", "/interfaces/core0", "none"),
        _planned("delete", "/interfaces/lan0/addresses", "loses packets on lan0"),
    ]
    assert taken_down(plan) == {"wan0"}


def test_one_that_only_loses_its_access_lists_is_not() -> None:
    """Calibration, seed 1, round 40: two sessions were certain to close, and stayed."""
    assert taken_down([_planned("detach", "/interfaces/wan0", "none")]) == frozenset()
