"""The interactive loop: lines are run, errors are printed, and the session goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from appliance.cli import terminal
from appliance.cli.session import Session
from appliance.client import AgentClient
from tests.unit.appliance.cli.agent import FakeAgent
from tests.unit.appliance.cli.test_session import DOCUMENT


@pytest.fixture(autouse=True)
def history(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A history of the test's own."""
    monkeypatch.setattr(terminal, "HISTORY", tmp_path / "history")


def test_a_person_edits_completes_and_commits(capsys: pytest.CaptureFixture[str]) -> None:
    agent = FakeAgent(DOCUMENT)
    session = Session(cast(AgentClient, agent), "nina")
    typed = "nonsense\rconf\rset interfaces lan0 m\x08mtu 1400\rshow interfaces lan0\rcommit\rexit\rexit\r"
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text(typed)
        assert terminal.interact(session, "r1") == 0
    said = capsys.readouterr().out
    assert "% there is no command 'nonsense'" in said
    assert "mtu 1400" in said
    assert agent.documents[-1]["interfaces"]["lan0"]["mtu"] == 1400


def test_the_end_of_input_ends_it() -> None:
    session = Session(cast(AgentClient, FakeAgent(DOCUMENT)), "nina")
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("show health\r\x04")
        assert terminal.interact(session, "r1") == 0


@pytest.mark.parametrize("leave", ["exit\r", "\x04"], ids=["exit", "end of input"])
def test_changes_are_forgotten_by_a_yes_alone(leave: str) -> None:
    session = Session(cast(AgentClient, FakeAgent(DOCUMENT)), "nina")
    kept: list[bool] = []
    ask = terminal.may_forget

    def asked(question: Callable[[str], str], changes: int) -> bool:
        kept.append(not ask(question, changes))
        assert changes == 1
        return not kept[-1]

    typed = f"conf\rset interfaces lan0 mtu 1400\r{leave}\r{leave}no\r{leave}maybe\ryes\rexit\r"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal, "may_forget", asked)
        with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
            keys.send_text(typed)
            assert terminal.interact(session, "r1") == 0
    assert kept == [True, True, False]


def test_a_terminal_that_is_gone_keeps_nobody_waiting() -> None:
    session = Session(cast(AgentClient, FakeAgent(DOCUMENT)), "nina")
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("conf\rset interfaces lan0 mtu 1400\r\x04\x04")
        assert terminal.interact(session, "r1") == 0
