"""The interactive loop: lines are run, errors are told, and the session goes on."""

from __future__ import annotations

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
    """Not the tester's own."""
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
