"""Many lines at once, on real daemons: few transactions, all of them or none, and an exact undo."""

from __future__ import annotations

import re
from typing import Any

import pytest

from frr_config import FrrClient, FrrCommandError, FrrConfig, Routing, plan, render
from frr_config.step import Command, Step
from tests.integration.frr.conftest import configure
from tests.integration.frr.harness import FrrHarness

pytestmark = pytest.mark.root

KEPT: dict[str, Any] = {
    "prefix_lists": {"kept": {"rules": {"5": {"action": "permit", "prefix": "10.0.0.0/8"}}}},
    "route_maps": {"kept": {"rules": {"10": {"action": "permit", "set": {"metric": 1}}}}},
}
"""Present before a batch, and unchanged after a batch that failed."""


def _route_maps(count: int, metric: int = 100) -> dict[str, Any]:
    """Route maps of two rules each, with clauses that each daemon takes and one that bgpd alone does."""
    rules = {
        "10": {"action": "permit", "set": {"metric": metric, "local_preference": metric}},
        "20": {"action": "deny"},
    }
    return {
        "policy": {
            **KEPT,
            "route_maps": {**KEPT["route_maps"], **{f"m{at}": {"rules": rules} for at in range(count)}},
        }
    }


def _desired(client: FrrClient, document: dict[str, Any]) -> FrrConfig:
    return render(Routing.model_validate(document), client.version())


def _only_step(client: FrrClient, document: dict[str, Any]) -> Step:
    (step,) = plan(_desired(client, document), client.observe())
    return step


def _transactions(harness: FrrHarness, daemon: str) -> int:
    """The number of transactions that a daemon has made, from its log: it checks a whole one before it
    applies any.
    """
    log = (harness.vty_dir / f"{daemon}.log").read_text()
    events = re.findall(r"northbound callback: event \[(\w+)\]", log)
    return sum(
        event == "validate" and before != "validate"
        for before, event in zip(["", *events], events, strict=False)
    )


@pytest.fixture
def frr(empty_router: FrrHarness) -> FrrClient:
    """A client of the router with ``KEPT``."""
    client = empty_router.client()
    configure(client, {"policy": KEPT})
    return client


def test_a_batch_of_route_maps_is_one_transaction(empty_router: FrrHarness, frr: FrrClient) -> None:
    # mgmtd keeps no such log.
    daemons = ("bgpd", "ospfd") if frr.version().has_mgmtd else ("bgpd", "ospfd", "zebra")
    for daemon in daemons:
        frr.show(daemon, "debug northbound callbacks configuration")
    before = frr.observe()
    step = _only_step(frr, _route_maps(100))
    try:
        for act in (frr.apply, frr.undo, frr.apply):
            had = {daemon: _transactions(empty_router, daemon) for daemon in daemons}
            act(step)
            made = {daemon: _transactions(empty_router, daemon) - had[daemon] for daemon in daemons}
            assert made == dict.fromkeys(daemons, 1)
            assert frr.observe() == (before if act == frr.undo else _desired(frr, _route_maps(100)))
    finally:
        for daemon in daemons:
            frr.show(daemon, "no debug northbound callbacks configuration")


def test_a_thousand_route_maps_come_and_go(frr: FrrClient) -> None:
    before = frr.observe()
    step = _only_step(frr, _route_maps(1000))
    assert len(step.do) == 4000
    frr.apply(step)
    assert frr.observe() == _desired(frr, _route_maps(1000))
    change = _only_step(frr, _route_maps(1000, 200))
    frr.apply(change)
    assert frr.observe() == _desired(frr, _route_maps(1000, 200))
    frr.undo(change)
    frr.undo(step)
    assert frr.observe() == before


@pytest.mark.parametrize("refused_at", ["once", "the end"])
def test_a_line_refused_amid_many_is_named_and_nothing_of_them_stays(frr: FrrClient, refused_at: str) -> None:
    """A daemon refuses some lines when it reads them, others together with their whole transaction."""
    before = frr.observe()
    good = _only_step(
        frr, {"policy": {**KEPT, "prefix_lists": {**KEPT["prefix_lists"], **_prefix_lists(200)}}}
    )
    bad = {
        "once": "ip prefix-list p100 seq 99 permit 300.0.0.0/8",
        "the end": "ip prefix-list p100 seq 99 permit 10.0.0.0/24 ge 16",
    }[refused_at]
    # Changes to the kept lines come before and after it.
    touched = ("ip prefix-list kept seq 7 permit 192.0.2.0/24", "ip prefix-list kept description touched")
    lines = [Command(good.do[0].daemons, (), text) for text in (touched[0], bad, touched[1])]
    middle = len(good.do) // 2
    taken_back = [
        Command(good.do[0].daemons, (), text)
        for text in ("no ip prefix-list kept description", f"no {bad}", f"no {touched[0]}")
    ]
    step = Step(
        "announce", "x", "y", "none", "",
        (lines[0], *good.do[:middle], lines[1], *good.do[middle:], lines[2]),
        (*taken_back, *good.undo),
    )  # fmt: skip
    with pytest.raises(FrrCommandError) as caught:
        frr.apply(step)
    assert caught.value.line == bad
    assert caught.value.daemon in good.do[0].daemons
    assert frr.observe() == before


def test_lines_of_a_refused_context_do_not_land_in_another(frr: FrrClient) -> None:
    before = frr.observe()
    fine = [Command(("bgpd",), (), f"ip prefix-list x seq {at} permit 10.{at}.0.0/16") for at in range(1, 20)]
    kept, refused = "route-map kept permit 10", "route-map other permit 99999"
    undo = (
        Command(("bgpd",), (kept,), "set metric 1"),
        Command(("bgpd",), (), refused),
        Command(("bgpd",), (refused,), "set metric 7"),
        Command(("bgpd",), (refused,), "description of another"),
        *(Command(("bgpd",), (), f"no {command.text}") for command in fine),
    )
    with pytest.raises(FrrCommandError, match="nonsense"):
        frr.apply(Step("announce", "x", "y", "none", "", (*fine, Command(("bgpd",), (), "nonsense")), undo))
    assert frr.observe() == before


def test_a_batch_is_taken_back_where_half_of_it_is_there(frr: FrrClient) -> None:
    before = frr.observe()
    step = _only_step(frr, _route_maps(60))
    half = Step("announce", "x", "y", "none", "", step.do[: len(step.do) // 2], ())
    frr.apply(half)
    frr.undo(step)
    assert frr.observe() == before


def _prefix_lists(count: int) -> dict[str, Any]:
    return {
        f"p{at}": {"rules": {"5": {"action": "permit", "prefix": f"10.{at}.0.0/16"}}} for at in range(count)
    }
