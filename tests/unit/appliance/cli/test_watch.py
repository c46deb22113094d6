"""The watch on the command line."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.cli.commit_options import ROLLBACK_OPTIONS, commit_options
from appliance.cli.errors import CommandError
from appliance.cli.watch import show_watch, watch_lines
from appliance.client.answers import Answer
from appliance.errors import Problem, ValidationFailed
from appliance.state.commit_options import CommitOptions
from appliance.state.watch import WatchReport, Worsening

WHO = {"author": "nina"}
WORSE = Worsening(
    rule="links",
    object="wan0",
    text="Interface wan0 has no\x1b[2J link.",
    before="up",
    after="down",
    foretold="no",
)
REPORT = WatchReport(
    revision=7,
    state="rolled_back",
    rolls_back=True,
    watch_s=60,
    began="2026-01-01T00:00:00Z",
    compared_with=6,
    worsenings=(WORSE, WORSE.model_copy(update={"asked_for": True})),
    not_seen=("The BGP session with 192.0.2.1 closes.",),
    not_compared={"pings": "there was no answer in time"},
    rolled_back_to=6,
)


class _Agent:
    def revision(self, number: int) -> Answer:
        return Answer(revision=number, watch=REPORT.model_dump(mode="json") if number == 7 else None)

    def status(self) -> Any:
        return type("Status", (), {"revision": 7})

    def watch_rules(self) -> dict[str, str]:
        return {"links": "an interface that had a link has none"}


def _shown(*words: str) -> str:
    agent: Any = _Agent()
    return show_watch(agent, list(words)).shown


def test_what_happened_is_said_beside_what_was_foretold() -> None:
    lines = _shown().splitlines()
    worse = "sessions or traffic got worse, rolled back automatically"
    assert lines[0] == f"revision 7: {worse}; revision 6 is back"
    assert "worse (not foretold): Interface wan0 has no?[2J link. [up -> down]" in lines
    assert any(line.startswith("worse (asked for):") for line in lines)
    assert "foretold as certain, and not seen: The BGP session with 192.0.2.1 closes." in lines
    assert "not compared: pings: there was no answer in time" in lines
    assert _shown("6") == "revision 6 was not watched, or its report is no longer kept"
    assert _shown("rules") == "links: an interface that had a link has none"


def test_service_that_came_back_after_the_watch_is_said() -> None:
    report = REPORT.model_copy(
        update={"state": "worse", "rolled_back_to": None, "as_before_since": "2026-01-01T00:02:00Z"}
    )
    assert watch_lines(report) == [
        "NOTE: revision 7: sessions or traffic got worse; as before again since 2026-01-01T00:02:00Z"
    ]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("", {}),
        ("watch 60", {"watch_s": 60}),
        ("--watch 60 confirmed 120", {"confirm_s": 120, "watch_s": 60}),
        ("no-watch comment --watch 60", {"watch_s": 0, "comment": "--watch 60"}),
        ("no-confirm", {"confirm_s": 0}),
    ],
)
def test_options_of_a_commit(words: str, options: dict[str, Any]) -> None:
    found = commit_options(words.split(), "usage", WHO)
    assert found == CommitOptions(author="nina", request_id=found.request_id, **options)


@pytest.mark.parametrize(
    ("words", "pointer", "told"),
    [
        ("watch 4", "/watch_s", "is 0 for no watch, or at least 5 seconds"),
        ("confirmed 86401", "/confirm_s", "must be at most 86400"),
        ("comment \x07", "/comment", "must be one line without control characters"),
    ],
)
def test_options_out_of_range_are_refused_by_name(words: str, pointer: str, told: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        commit_options(words.split(" "), "usage", WHO)
    assert refused.value.problems == (Problem(pointer, told),)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("confirmed 60 no-confirm", "no-confirm: the confirm timer is given twice"),
        ("--no-watch --watch 60", "watch: the watch is given twice"),
    ],
)
def test_options_that_contradict_each_other_are_refused(words: str, told: str) -> None:
    with pytest.raises(CommandError, match=f"^{told}$"):
        commit_options(words.split(), "usage", WHO)


@pytest.mark.parametrize("words", ["watch", "watch soon", "watched 3", "confirmed"])
def test_options_that_are_none(words: str) -> None:
    with pytest.raises(CommandError):
        commit_options(words.split(), "usage", WHO)


def test_a_rollback_takes_no_comment() -> None:
    with pytest.raises(CommandError):
        commit_options(["comment", "x"], "usage", WHO, ROLLBACK_OPTIONS)
