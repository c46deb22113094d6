"""The output of the command line cannot control the terminal."""

from __future__ import annotations

import pytest

from appliance.cli.text import table, told
from appliance.errors import Conflict, MillraceError, Problem, ValidationFailed

HOSTILE = "evil\x1b[2J\x9b31m\x07\r"


@pytest.mark.parametrize(
    "error", [Conflict(HOSTILE), ValidationFailed([Problem("/acls/" + HOSTILE, HOSTILE), Problem("/", "x")])]
)
def test_an_error_is_told_without_control_characters(error: MillraceError) -> None:
    shown = told(error)
    assert "evil?[2J?31m?" in shown
    assert [character for character in shown if not character.isprintable() and character != "\n"] == []


def test_an_error_of_several_lines_keeps_them() -> None:
    assert told(Conflict("one\ntwo")) == "one\ntwo"


def test_a_table_is_shown_without_control_characters() -> None:
    shown = table([{"name": HOSTILE, "list": [HOSTILE]}], ["name", "list"])
    assert "\x1b" not in shown
    assert "\x9b" not in shown
