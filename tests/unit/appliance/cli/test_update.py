"""A candidate whose base is no longer what runs."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, cast

import pytest

from appliance.cli.errors import CommandError
from appliance.cli.session import Session
from appliance.client import AgentClient
from appliance.errors import Conflict
from appliance.state.commit_options import CommitOptions
from tests.unit.appliance.cli.agent import FakeAgent
from tests.unit.appliance.cli.test_session import DOCUMENT


def _session_and_other(*lines: str) -> tuple[Session, FakeAgent]:
    """A session that has done the lines in configure mode, while somebody else has set lan0's MTU."""
    agent = FakeAgent(DOCUMENT)
    session = Session(cast(AgentClient, agent), "nina")
    session.line("configure")
    for line in lines:
        session.line(line)
    theirs: dict[str, Any] = deepcopy(DOCUMENT)
    theirs["interfaces"]["lan0"]["mtu"] = 9000
    agent.commit(theirs, CommitOptions(author="omar"), base_revision=1)
    return session, agent


def test_the_same_changes_are_made_to_what_runs() -> None:
    session, agent = _session_and_other("edit interfaces lan0", "set description LAN")
    with pytest.raises(Conflict, match="`update` merges it"):
        session.line("commit")
    assert "revision 2" in session.line("update")
    assert session.line("compare") == "+ interfaces lan0 description LAN"
    session.line("commit")
    lan = agent.documents[-1]["interfaces"]["lan0"]
    assert (lan["mtu"], lan["description"]) == (9000, "LAN")


@pytest.mark.parametrize(("keep", "mtu"), [("ours", 1400), ("theirs", 9000)])
def test_where_both_changed_the_same_one_says_whose_stays(keep: str, mtu: int) -> None:
    session, agent = _session_and_other("set interfaces lan0 mtu 1400", "set system hostname edge1")
    told = session.line("update")
    assert "/interfaces/lan0/mtu: 1400 here, 9000 in revision 2" in told and "nothing was merged" in told
    assert session.candidate is not None and session.candidate.revision == 1
    (conflict,) = json.loads(session.line("update | json"))["conflicts"]
    assert (conflict["ours"], conflict["theirs"]) == (1400, 9000)
    session.line(f"update {keep}")
    session.line("commit")
    assert agent.documents[-1]["interfaces"]["lan0"]["mtu"] == mtu
    assert agent.documents[-1]["system"]["hostname"] == "edge1"


def test_what_one_side_removed_is_told_as_removed() -> None:
    session, _ = _session_and_other("delete interfaces lan0")
    assert "/interfaces/lan0: removed here" in session.line("update")


def test_nothing_else_is_taken_for_a_side() -> None:
    session, _ = _session_and_other()
    with pytest.raises(CommandError, match=r"update \[ours\|theirs\]"):
        session.line("update mine")


def test_a_refusal_for_another_reason_says_nothing_of_update() -> None:
    session, agent = _session_and_other("set system hostname edge1")
    agent.documents.pop()
    agent.commit = _busy  # type: ignore[method-assign]
    with pytest.raises(Conflict) as refused:
        session.line("commit")
    assert "update" not in str(refused.value)


def _busy(*_: Any, **__: Any) -> Any:
    raise Conflict("a commit is under way")
