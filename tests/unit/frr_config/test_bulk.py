"""Few static routes are a step each, many go together."""

from __future__ import annotations

from itertools import pairwise

from frr_config import V8_4, FakeFrr, FrrConfig, Routing, plan, render
from frr_config.bulk import OBJECTS_IN_A_STEP, SINGLE_STEPS


def _routes(count: int, hop: str = "10.9.0.2") -> FrrConfig:
    static = {
        f"198.{18 + at // 256}.{at % 256}.0/24": {"next_hops": [{"address": hop}]} for at in range(count)
    }
    return render(Routing.model_validate({"static": static}), V8_4)


def test_few_are_a_step_each() -> None:
    steps = plan(_routes(SINGLE_STEPS), FrrConfig.empty(V8_4))
    assert len(steps) == SINGLE_STEPS
    assert steps[0].path == "/routing/static/198.18.0.0~124"


def test_many_go_together() -> None:
    steps = plan(_routes(OBJECTS_IN_A_STEP + 100), FrrConfig.empty(V8_4))
    assert [len(step.do) for step in steps] == [OBJECTS_IN_A_STEP, 100]
    assert steps[0].summary == "add 500 static routes: 198.18.0.0/24, 198.18.1.0/24, 198.18.2.0/24, ..."
    assert (
        steps[0].undo_summary == "remove 500 static routes: 198.18.0.0/24, 198.18.1.0/24, 198.18.2.0/24, ..."
    )
    assert (steps[0].path, steps[0].impact, steps[0].phase) == ("/routing/static", "none", "announce")


def test_together_they_are_done_and_undone_exactly() -> None:
    frr = FakeFrr()
    states = [FrrConfig.empty(V8_4), _routes(900), _routes(700, "10.9.0.3"), FrrConfig.empty(V8_4)]
    for before, after in pairwise(states):
        assert frr.observe() == before
        steps = plan(after, before)
        for step in steps:
            frr.apply(step)
        assert frr.observe() == after
        for step in reversed(steps):
            frr.undo(step)
        assert frr.observe() == before
        for step in steps:
            frr.apply(step)
