"""Actions on the command line appear once in the web half's audit log, with their results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.agent.operations import KEPT, OperationLog
from appliance.cli.capture import capture
from appliance.cli.clear import clear
from appliance.cli.log import show_log
from appliance.client import AgentClient
from appliance.errors import MillraceError
from appliance.logs.files import LogFiles
from appliance.state.logs import LogQuery
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from webui.accounts.command_line import take_over
from webui.accounts.models import AuditEntry


@pytest.fixture
def logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This fixture must come before the router."""
    (tmp_path / "agent.log").write_text("time=2026-11-23T10:00:00+00:00 level=info message=hello\n")
    monkeypatch.setattr(RouterInMemory, "log_source", LogFiles(tmp_path))


@pytest.fixture
def agent(logged: None, db: None, router: RouterInMemory) -> Iterator[AgentClient]:
    client = AgentClient(router.socket, command_line_of="Zoë")
    yield client
    client.close()


def _taken() -> list[tuple[str, str, str, str]]:
    return [
        (one.username, one.action, one.target, one.result)
        for one in AuditEntry.objects.filter(via="cli").order_by("pk")
    ]


def test_what_is_done_and_what_failed_is_taken_over_once(agent: AgentClient) -> None:
    show_log(agent, ["agent"])
    clear(agent, "Zoë", ["counters", "interface", "lan0"])
    for words in (["start", "nosuch0", "in", "filter", "tcp"], ["remove", "0123456789ab"]):
        with pytest.raises(MillraceError):
            capture(agent, "Zoë", words)
    assert take_over() == 4
    assert _taken() == [
        ("Zoë", "logs.read", "agent", "done"),
        ("Zoë", "action.clear-counters", "lan0", "done"),
        ("Zoë", "capture.start", "nosuch0 in tcp", "failed"),
        ("Zoë", "capture.remove", "0123456789ab", "failed"),
    ]
    entry = AuditEntry.objects.get(action="capture.start", via="cli")
    assert entry.detail.startswith("there is no interface nosuch0; at 2") and entry.address == "local"
    assert take_over() == 0
    show_log(agent, [])
    assert take_over() == 1 and _taken()[-1] == ("Zoë", "logs.read", "all", "done")


def test_following_a_log_is_one_entry(agent: AgentClient) -> None:
    page = agent.logs()
    for _ in range(3):
        page = agent.logs(LogQuery(after=page.newest))
    assert take_over() == 1


def test_what_goes_through_the_web_half_is_there_once(
    logged: None, router: RouterInMemory, client_of: MakeClient
) -> None:
    client_of("operator").post("actions/clear-counters", {"interface": "lan0"})
    assert take_over() == 0
    assert AuditEntry.objects.filter(action="action.clear-counters").count() == 1


def test_an_agent_that_is_away_is_asked_again(agent: AgentClient, router: RouterInMemory) -> None:
    show_log(agent, [])
    from webui.agent import replace_agent

    replace_agent(AgentClient("/nonexistent/agent.sock"))
    assert take_over() == 0
    replace_agent(router.client)
    assert take_over() == 1


def test_operations_survive_the_agent_and_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "operations.json"
    operations = OperationLog(path)
    operations.add("nina", "logs.read", "all", "done", "x" * 9000)
    first = operations.after(0).operations[0]
    assert len(first.detail) == 500
    again = OperationLog(path)
    again.add("omar", "trace.start", "wan0", "failed", "")
    assert [one.author for one in again.after(0).operations] == ["nina", "omar"]
    assert [one.author for one in again.after(first.number).operations] == ["omar"]
    for _ in range(KEPT):
        again._kept.append(first)
    assert len(again.after(0).operations) == KEPT
    path.write_text("{")
    assert OperationLog(path).after(0).operations == ()
