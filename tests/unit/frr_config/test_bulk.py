"""Few static routes are a step each, many go together."""

from __future__ import annotations

from itertools import pairwise

from frr_config import V8_4, FakeFrr, FrrConfig, Routing, plan, render
from frr_config.bulk import SINGLE_STEPS
from frr_config.transaction import MOST_LINES


def _routes(count: int, hop: str = "10.9.0.2") -> FrrConfig:
    static = {
        f"{198 + at // 16384}.{18 + at // 256 % 64}.{at % 256}.0/24": {"next_hops": [{"address": hop}]}
        for at in range(count)
    }
    return render(Routing.model_validate({"static": static}), V8_4)


def test_few_are_a_step_each() -> None:
    steps = plan(_routes(SINGLE_STEPS), FrrConfig.empty(V8_4))
    assert len(steps) == SINGLE_STEPS
    assert steps[0].path == "/routing/static/198.18.0.0~124"


def test_what_fits_into_a_transaction_is_one_step() -> None:
    steps = plan(_routes(MOST_LINES + 100), FrrConfig.empty(V8_4))
    assert [len(step.do) for step in steps] == [MOST_LINES, 100]
    assert (
        steps[0].summary
        == f"add {MOST_LINES} static routes: 198.18.0.0/24, 198.18.1.0/24, 198.18.2.0/24, ..."
    )
    assert steps[0].undo_summary == steps[0].summary.replace("add", "remove", 1)
    assert (steps[0].path, steps[0].impact, steps[0].phase) == ("/routing/static", "none", "announce")


def test_many_lines_of_one_object_are_one_step() -> None:
    rules = {
        str(at + 1): {"action": "permit", "prefix": f"10.{at // 256}.{at % 256}.0/24"}
        for at in range(MOST_LINES + 1)
    }
    lists = {f"p{at:02}": {"rules": {"1": {"action": "deny", "prefix": "10.0.0.0/8"}}} for at in range(40)}
    policy = {"policy": {"prefix_lists": {**lists, "p20": {"rules": rules}}}}
    steps = plan(render(Routing.model_validate(policy), V8_4), FrrConfig.empty(V8_4))
    assert [len(step.do) for step in steps] == [20, MOST_LINES + 1, 19]


def test_routes_follow_many_changes_last() -> None:
    """Commands that make routes follow their policy would split the lines into as many transactions."""
    count = 2 * SINGLE_STEPS

    def document(action: str) -> FrrConfig:
        rules = {"1": {"action": action, "prefix": "10.0.0.0/8"}}
        neighbors = {
            f"10.9.0.{at}": {"remote_asn": 2, "ipv4_unicast": {"prefix_list_in": f"p{at}"}}
            for at in range(1, count + 1)
        }
        policy = {"prefix_lists": {f"p{at}": {"rules": rules} for at in range(1, count + 1)}}
        return render(
            Routing.model_validate({"policy": policy, "bgp": {"asn": 1, "neighbors": neighbors}}), V8_4
        )

    (step,) = plan(document("permit"), document("deny"))
    for commands in (step.do, step.undo):
        assert [command.mode for command in commands] == ["configure"] * count + ["exec"] * count
        clears = {f"clear bgp ipv4 unicast 10.9.0.{at} soft in" for at in range(1, count + 1)}
        assert {command.text for command in commands[count:]} == clears


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
