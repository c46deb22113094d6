"""``load changes N``: the changes of a revision in the candidate, as a merge."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, cast

import pytest

from appliance.cli.errors import CommandError
from appliance.cli.session import Session
from appliance.client import AgentClient
from appliance.errors import NotFound
from appliance.state.commit_options import CommitOptions
from tests.unit.appliance.cli.agent import FakeAgent
from tests.unit.appliance.cli.test_session import DOCUMENT


@pytest.fixture
def agent() -> FakeAgent:
    """Revision 2 set lan0's MTU and a name and was rolled back by 3; revision 4 described lan0."""
    agent, options = FakeAgent(DOCUMENT), CommitOptions(author="omar")
    second: dict[str, Any] = deepcopy(DOCUMENT)
    second["interfaces"]["lan0"]["mtu"] = 9000
    second["system"] = {"hostname": "edge2"}
    agent.commit(second, options, base_revision=1)
    agent.rollback(1, options)
    fourth: dict[str, Any] = deepcopy(DOCUMENT)
    fourth["interfaces"]["lan0"]["description"] = "LAN"
    agent.commit(fourth, options, base_revision=3)
    return agent


def _configuring(agent: FakeAgent, *lines: str) -> Session:
    session = Session(cast(AgentClient, agent), "nina")
    for line in ("configure", *lines):
        session.line(line)
    return session


def test_a_rolled_back_revision_is_taken_up_and_later_commits_stay(agent: FakeAgent) -> None:
    session = _configuring(agent, "set interfaces wan0 description WAN")
    assert session.line("load changes 2") == "the candidate has the changes of revision 2 now"
    assert session.line("load changes 2") == "the candidate has the changes of revision 2 already"
    session.line("commit")
    after = agent.documents[-1]
    assert (after["interfaces"]["lan0"]["mtu"], after["interfaces"]["lan0"]["description"]) == (9000, "LAN")
    assert after["system"]["hostname"] == "edge2" and after["interfaces"]["wan0"]["description"] == "WAN"


@pytest.mark.parametrize(("keep", "mtu"), [("ours", 1400), ("theirs", 9000)])
def test_a_conflict_is_told_and_nothing_is_done(agent: FakeAgent, keep: str, mtu: int) -> None:
    session = _configuring(agent, "set interfaces lan0 mtu 1400")
    told = session.line("load changes 2")
    assert "/interfaces/lan0/mtu: 1400 here, 9000 in revision 2" in told and "nothing was merged" in told
    assert session.candidate is not None and "system" not in session.candidate.document
    (conflict,) = json.loads(session.line("load changes 2 | json"))["conflicts"]
    assert (conflict["ours"], conflict["theirs"]) == (1400, 9000)
    session.line(f"load changes 2 {keep}")
    assert session.candidate.document["interfaces"]["lan0"]["mtu"] == mtu
    assert session.candidate.document["system"]["hostname"] == "edge2"


@pytest.mark.parametrize("line", ["load", "load changes", "load changes 2 mine", "load changes 0", "load 2"])
def test_anything_else_is_refused(agent: FakeAgent, line: str) -> None:
    with pytest.raises(CommandError):
        _configuring(agent).line(line)


def test_a_revision_that_is_not_there(agent: FakeAgent) -> None:
    with pytest.raises(NotFound, match="there is no revision 9"):
        _configuring(agent).line("load changes 9")
