"""Calls of route maps that come, go and turn round: no daemon follows one that is not configured."""

from __future__ import annotations

from typing import Any

import pytest

from frr_config import Routing, plan, render
from tests.integration.frr.conftest import configure
from tests.integration.frr.harness import FrrHarness

pytestmark = pytest.mark.root

_MANY = 100
_PLAIN: dict[str, Any] = {"action": "permit"}


def _maps(**called: str) -> dict[str, Any]:
    """Three route maps, each with a rule that calls nothing, and one before it that may call."""
    return {
        "policy": {
            "route_maps": {
                name: {
                    "rules": {
                        **({"5": {"action": "permit", "call": called[name]}} if name in called else {}),
                        "10": _PLAIN,
                    }
                }
                for name in ("a", "b", "c")
            }
        },
        # Every daemon has the maps: bgpd, ospfd and zebra.
        "bgp": {"asn": 65000, "router_id": "10.255.0.1"},
        "ospf": {"router_id": "10.255.0.1"},
    }


@pytest.mark.parametrize("between", [_maps(), _maps(c="a"), {}], ids=["rules", "other-call", "maps"])
def test_a_call_in_the_opposite_direction_of_a_removed_one_ends_no_daemon(
    empty_router: FrrHarness, between: dict[str, Any]
) -> None:
    """A daemon that remembers the call of the removed rule follows the two calls until its stack is full."""
    client = empty_router.client()
    for document in (_maps(a="b"), between, _maps(b="a"), _maps(b="c"), _maps(c="b", b="a"), _maps(a="c")):
        configure(client, document)
        assert empty_router.ended() == "every daemon is running"


def test_calls_that_turn_round_in_one_plan_end_no_daemon_done_or_undone(empty_router: FrrHarness) -> None:
    client = empty_router.client()
    for before, after in [
        (_maps(a="b"), _maps(b="a")),
        (_maps(a="b", b="c"), _maps(c="b", b="a")),
        (_maps(a="c", b="c"), _maps(c="a", a="b")),
    ]:
        configure(client, before)
        steps = plan(render(Routing.model_validate(after), client.version()), client.observe())
        for step in steps:
            client.apply(step)
        for step in reversed(steps):
            client.undo(step)
        assert plan(render(Routing.model_validate(before), client.version()), client.observe()) == ()
        configure(client, after)
        assert empty_router.ended() == "every daemon is running"


def test_many_calls_removed_in_one_transaction_are_forgotten(empty_router: FrrHarness) -> None:
    """A daemon compares the trees before and after it: the removal of a rule hides that of its call."""
    client = empty_router.client()

    def document(calls: dict[str, str]) -> dict[str, Any]:
        names = ["z", *(f"m{at}" for at in range(_MANY))]
        rules = {
            name: {"5": {"action": "permit", "call": calls[name]}} if name in calls else {} for name in names
        }
        maps = {name: {"rules": rules[name] | {"10": _PLAIN}} for name in names}
        return {**_maps(), "policy": {"route_maps": maps}}

    configure(client, document({f"m{at}": "z" for at in range(_MANY)}))
    summaries = configure(client, document({}))
    assert len(summaries) < _MANY, "the rules are not removed together"
    configure(client, document({"z": "m1"}))
    assert empty_router.ended() == "every daemon is running"
