"""The planner on kinds it does not know: only the objects' declarations decide the order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Contradiction, changes
from tests.unit.planner.toys import Bolt, Bridge, Canal, Sluice, Toy, World, plan, shown, state


def test_what_is_needed_comes_first_and_goes_last() -> None:
    """The kinds are not even named: nothing but requirements orders these."""
    held = state(Bridge("c", ("b",)), Bridge("b", ("a",)), Bolt("a"))
    assert shown(changes(held, {})) == ["create: create a", "create: create b", "create: create c"]
    assert shown(changes({}, held)) == ["delete: delete c", "delete: delete b", "delete: delete a"]


def test_what_is_followed_matters_only_where_it_is() -> None:
    bridge, bolt = Bridge("b", after=("a",)), Bolt("a")
    assert shown(plan(state(bridge), {})) == ["create: create b"]
    assert shown(plan(state(bridge, bolt), state(bridge))) == [
        "delete: delete b",
        "create: create a",
        "create: create b",
    ]


def test_what_stands_on_something_made_anew_is_made_anew() -> None:
    top = [Bridge("b", ("a",)), Bridge("c", ("b",)), Bridge("apart")]
    assert shown(plan(state(Bolt("a", make=1), *top), state(Bolt("a"), *top))) == [
        "delete: delete c",
        "delete: delete b",
        "delete: delete a",
        "create: create a",
        "create: create b",
        "create: create c",
    ]


def test_an_exchange_is_made_before_it_breaks() -> None:
    old, new = Bridge("b", swaps=("one",)), Bridge("b", swaps=("two",))
    assert shown(plan(state(Bolt("two"), new), state(Bolt("one"), old))) == [
        "create: create two",
        "create: update b",
        "create: delete one",
    ]


def test_an_exchange_for_a_namesake_made_anew_is_no_exchange() -> None:
    held = Bridge("b", swaps=("one",))
    assert shown(plan(state(Bolt("one", make=1), held), state(Bolt("one"), held))) == [
        "delete: delete b",
        "delete: delete one",
        "create: create one",
        "create: create b",
    ]


def test_traffic_starts_last_and_stops_first() -> None:
    held = state(Canal("w"), Sluice("s", canal="w"), Bridge("b", ("w",)))
    assert shown(plan(held, {})) == [
        "create: create w",
        "create: create b",
        "attach: create s",
        "attach: update w open",
    ]
    assert shown(plan({}, held)) == [
        "detach: update w shut",
        "detach: delete s",
        "delete: delete b",
        "delete: delete w",
    ]


def test_traffic_stops_while_its_guard_is_made_anew() -> None:
    inner = Canal("v", outer="w", width=5)
    before = state(Canal("w"), inner, Sluice("s", canal="w"))
    after = state(Canal("w"), inner, Sluice("s", canal="w", make=1))
    assert shown(plan(after, before)) == [
        "detach: update v shut",
        "detach: update w shut",
        "detach: delete s",
        "attach: create s",
        "attach: update w open",
        "attach: update v open",
    ]


def test_a_guard_that_is_merely_changed_stops_nothing() -> None:
    before = state(Canal("w"), Bolt("x"), Bolt("y"), Sluice("s", canal="w", swaps=("x",)))
    after = state(Canal("w"), Bolt("x"), Bolt("y"), Sluice("s", canal="w", swaps=("y",)))
    assert shown(plan(after, before)) == ["attach: update s"]


def test_a_change_that_needs_quiet_gets_it() -> None:
    before, after = Canal("w", dry_change=True), Canal("w", dry_change=True, form=1)
    assert shown(plan(state(after), state(before))) == [
        "detach: update w shut",
        "create: update w",
        "attach: update w open",
    ]
    assert shown(plan(state(replace(after, dry_change=False)), state(replace(before, dry_change=False)))) == [
        "create: update w"
    ]


@pytest.mark.parametrize(("outer", "inner", "order"), [(20, 15, "wv"), (8, 5, "vw")])
def test_the_inner_shrinks_first_and_the_outer_grows_first(outer: int, inner: int, order: str) -> None:
    before = state(Canal("w"), Canal("v", outer="w", width=9))
    after = state(Canal("w", width=outer), Canal("v", outer="w", width=inner))
    assert shown(plan(after, before)) == [f"create: update {name}" for name in order]


def test_a_kind_may_turn_into_another_under_one_name() -> None:
    """Two keys, one token: dependents of the token are recreated too."""
    top = Bridge("b", ("a",))
    assert shown(plan(state(Bolt("a"), top), state(Bridge("a"), top))) == [
        "delete: delete b",
        "delete: delete a",
        "create: create a",
        "create: create b",
    ]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ((Bridge("b", ("a",)),), "bridge b needs a, which is not there"),
        ((Canal("w"), Canal("v", outer="w", width=11)), "canal v is wider than canal w"),
        ((Bridge("a", ("b",)), Bridge("b", ("a",))), "bridge a and what it needs wait for each other"),
    ],
)
def test_a_state_that_cannot_be_is_refused(items: tuple[Toy, ...], message: str) -> None:
    with pytest.raises(Contradiction, match=message):
        plan(state(*items), {})


def test_a_world_would_object() -> None:
    """The checks of the property test do detect a wrong order."""
    held = state(Canal("w"), Sluice("s", canal="w"))
    for wrong in (plan(held, {})[::-1], plan(held, {})[:1] + plan(held, {})[2:]):
        with pytest.raises(AssertionError):
            World({}, held).run(wrong)
