"""The work on lines that existed before, counted because every commit does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from frr_config import V8_4, FrrConfig, Line, Routing, masked_diff, plan, render
from frr_config.layout import place
from frr_config.tables import object_of, owners

ROUTES = 300


def _routing(*more: str) -> Routing:
    prefixes = [*(f"10.{number // 200}.{number % 200}.0/24" for number in range(ROUTES)), *more]
    return Routing.model_validate(
        {"static": {prefix: {"next_hops": [{"address": "10.9.0.2"}]} for prefix in sorted(prefixes)}}
    )


class _Key:
    """A place that counts how often it is compared."""

    compared = 0

    def __init__(self, place: Any) -> None:
        self._place = place

    def __lt__(self, other: _Key) -> bool:
        _Key.compared += 1
        return bool(self._place < other._place)


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often places were compared since it was last asked."""
    monkeypatch.setattr("frr_config.config.place", lambda line: _Key(place(line)))

    def since() -> int:
        found, _Key.compared = _Key.compared, 0
        return found

    since()
    return since


def test_lines_in_order_are_not_sorted_again(compared: Callable[[], int]) -> None:
    before = render(_routing(), V8_4)
    before.text()
    assert compared() > 3 * len(before.holders)
    after = render(_routing("203.0.113.0/24", "10.7.7.0/24"), V8_4, like=before)
    text = after.text()
    assert compared() < 1.2 * len(after.holders)
    assert text == render(_routing("203.0.113.0/24", "10.7.7.0/24"), V8_4).text()
    assert "10.7.7.0/24" not in before.text()


def test_an_order_is_handed_on_by_a_configuration_that_nobody_wrote(compared: Callable[[], int]) -> None:
    first = render(_routing(), V8_4)
    first.text()
    unwritten = render(_routing("10.7.7.0/24"), V8_4, like=first)
    third = render(_routing("10.8.8.0/24"), V8_4, like=unwritten)
    compared()
    assert third.text() == render(_routing("10.8.8.0/24"), V8_4).text()
    again = render(_routing(), V8_4, like=third)
    compared()
    assert again.text() == first.text()
    assert compared() < 1.2 * len(again.holders)


def test_owners_are_asked_for_new_lines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = render(_routing(), V8_4)
    asked: list[str] = []

    def count(context: tuple[str, ...], text: str, version: Any) -> frozenset[str]:
        asked.append(text)
        return owners(context, text, version)

    monkeypatch.setattr("frr_config.config.owners", count)
    after = render(_routing("203.0.113.0/24"), V8_4, like=before)
    assert asked == ["ip route 203.0.113.0/24 10.9.0.2"]
    assert after.holders == render(_routing("203.0.113.0/24"), V8_4).holders


def test_what_was_observed_is_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    observed = render(_routing(), V8_4)
    wanted = [render(_routing(more), V8_4) for more in ("203.0.113.0/24", "198.51.100.0/24")]
    asked: list[Line] = []

    def count(line: Line) -> Any:
        asked.append(line)
        return object_of(line)

    monkeypatch.setattr("frr_config.config.object_of", count)
    steps = [plan(one, observed) for one in wanted]
    assert len(asked) == len(observed.holders) + sum(len(one.holders) for one in wanted)
    assert [len(one) for one in steps] == [1, 1]
    assert plan(wanted[0], observed) == plan(wanted[0], FrrConfig(V8_4, dict(observed.holders)))
    assert masked_diff(observed, wanted[0])
