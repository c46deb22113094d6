"""What of a daemon's route maps counts, as its answers tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from frr_config.line import Line
from frr_config.protocols.policy.counting import Counting
from frr_config.version import V8_4, V10_3

OPENER = "route-map m permit 10"
USE = Line(("router bgp 65000", "address-family ipv4 unicast"), "neighbor 192.0.2.1 route-map m in")


def _held(*texts: str) -> tuple[Line, ...]:
    return (
        Line((), "router bgp 65000"),
        USE,
        Line((), OPENER),
        *(Line((OPENER,), text) for text in texts),
    )


def _rule(**more: Any) -> dict[str, Any]:
    return {
        "sequenceNumber": 10,
        "type": "permit",
        "matchClauses": [],
        "setClauses": [],
        "action": "Exit routemap",
        **more,
    }


class Daemon:
    """Answers about one route map, and keeps what it was asked."""

    def __init__(self, *rules: dict[str, Any], wrapped: bool = True) -> None:
        maps = {"m": {"rules": list(rules)}}
        self.answer = json.dumps({"BGP": maps} if wrapped else maps)
        self.asked: list[str] = []

    def __call__(self, commands: Sequence[str]) -> list[str]:
        self.asked += commands
        return [self.answer for _ in commands]


@pytest.mark.parametrize("wrapped", [True, False])
def test_lines_that_count_stay(wrapped: bool) -> None:
    held = _held(
        "description it is said", "match as-path a", "set community 65001:5 additive", "call other",
        "on-match goto 40",
    )  # fmt: skip
    daemon = Daemon(
        _rule(
            matchClauses=["as-path a"],
            setClauses=["community 65001:5 additive"],
            callClause="other",
            action="Goto 40",
        ),
        wrapped=wrapped,
    )
    assert Counting("bgpd").lines(held, V8_4, 1, daemon) is held
    assert daemon.asked == ["show route-map m json"]


@pytest.mark.parametrize(
    ("texts", "rule", "gone"),
    [
        (("match as-path a",), {}, "match as-path a"),
        (("set metric 5",), {"setClauses": ["metric 6"]}, "set metric 5"),
        (("call other",), {}, "call other"),
        (("on-match next",), {}, "on-match next"),
        (("on-match goto 40",), {"action": "Continue to next entry"}, "on-match goto 40"),
        ((), {"type": "deny"}, OPENER),
    ],
)
def test_what_does_not_count_is_left_out(texts: tuple[str, ...], rule: dict[str, Any], gone: str) -> None:
    seen = Counting("bgpd").lines(_held(*texts), V8_4, 1, Daemon(_rule(**rule)))
    assert gone not in {line.text for line in seen}
    assert Line((), "router bgp 65000") in seen


def test_a_clause_that_the_daemon_does_not_know_is_not_missed() -> None:
    held = _held("match as-path a", "match source-protocol static", "set src 10.0.0.1")
    assert Counting("ospfd").lines(held, V8_4, 1, Daemon(_rule())) is held
    seen = Counting("bgpd").lines(held, V10_3, 1, Daemon(_rule(matchClauses=["as-path a"])))
    assert set(held) - set(seen) == {Line((OPENER,), "match source-protocol static")}


def test_a_clause_that_counts_although_it_is_not_configured_is_added() -> None:
    seen = Counting("bgpd").lines(_held(), V8_4, 1, Daemon(_rule(setClauses=["metric 5"])))
    assert Line((OPENER,), "set metric 5") in seen


@pytest.mark.parametrize("answer", ["", "% Unknown command", "[]", '{"BGP": {}}'])
def test_a_map_that_the_daemon_does_not_tell_does_not_count(answer: str) -> None:
    daemon = Daemon()
    daemon.answer = answer
    seen = Counting("bgpd").lines(_held("set metric 5"), V8_4, 1, daemon)
    assert [line.text for line in seen] == ["router bgp 65000", USE.text]


def test_only_maps_that_changed_are_asked_about() -> None:
    counting, daemon = Counting("bgpd"), Daemon(_rule())
    held = _held()
    # The route map calls the first of them, and each the next one.
    others = tuple(
        line
        for at in range(1000)
        for line in (
            Line((), f"route-map m{at} permit 10"),
            Line((f"route-map m{at} permit 10",), f"call m{at + 1}"),
        )
    )
    held = (*held, Line((OPENER,), "call m0"))

    def ask(commands: Sequence[str]) -> list[str]:
        daemon.asked += commands
        names = [command.split()[2] for command in commands]
        calls = {name: "m0" if name == "m" else f"m{int(name[1:]) + 1}" for name in names}
        return [json.dumps({name: {"rules": [_rule(callClause=calls[name])]}}) for name in names]

    counting.lines((*held, *others), V8_4, 1, ask)
    assert len(daemon.asked) == 1001
    daemon.asked.clear()
    counting.lines((*held, Line((OPENER,), "description other"), *others), V8_4, 1, ask)
    assert daemon.asked == ["show route-map m json"]
    daemon.asked.clear()
    counting.lines((*held, Line((OPENER,), "description other"), *others), V8_4, 2, ask)
    assert len(daemon.asked) == 1001, "a daemon that was restarted is asked about all"


def test_a_map_that_did_not_count_is_asked_about_again() -> None:
    counting, held = Counting("bgpd"), _held("set metric 5")
    assert len(counting.lines(held, V8_4, 1, Daemon(_rule()))) == len(held) - 1
    assert counting.lines(held, V8_4, 1, Daemon(_rule(setClauses=["metric 5"]))) is held
    later = Daemon(_rule())
    assert counting.lines(held, V8_4, 1, later) is held
    assert later.asked == []


def test_a_map_that_the_daemon_does_not_use_is_not_asked_about() -> None:
    daemon = Daemon()
    held = tuple(line for line in _held("match as-path a") if line is not USE)
    assert Counting("bgpd").lines(held, V8_4, 1, daemon) is held
    assert daemon.asked == []
