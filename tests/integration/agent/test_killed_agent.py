"""kill -9 of a real agent in the middle of commits, and the recovery by the next one."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from appliance.config.load import parse_document
from appliance.errors import AgentUnavailable, NotFound
from appliance.state.commit_options import CommitOptions
from appliance.state.commits import CommitUnderWay
from tests.integration.agent.harness import AgentProcess, quietly_commit
from tests.unit.engine.toys import compile_toy, document

KILLS = 6


def _wait_settled(agent: AgentProcess, timeout_s: float = 10) -> dict[str, Any]:
    """Wait until the router matches the running document; returns that document."""
    deadline = time.monotonic() + timeout_s
    while True:
        config = agent.client.config()
        if agent.live() == compile_toy(parse_document(config.document)):
            return config.document
        assert time.monotonic() < deadline, (agent.live(), config.document)
        time.sleep(0.02)


def test_killed_between_steps_it_comes_back_to_the_last_revision(tmp_path: Path) -> None:
    chance = random.Random(7)
    with AgentProcess(tmp_path, step_s=0.03) as agent:
        agent.client.commit(document("198.51.100.0/24"), CommitOptions(author="alice"))
        for number in range(KILLS):
            before = agent.client.config()
            wanted = document(*(f"198.51.{chance.randrange(100)}.0/24" for _ in range(8)))
            thread = threading.Thread(target=quietly_commit, args=(agent.client, wanted, f"kill-{number}"))
            thread.start()
            time.sleep(chance.uniform(0.05, 0.5))
            agent.kill()
            thread.join()
            agent.start()
            settled = _wait_settled(agent)
            after = agent.client.status().revision
            try:
                state = agent.client.commit_result(f"kill-{number}").state
            except NotFound:
                state = "failed"  # it died before it had read the request
            assert state == ("done" if after == before.revision + 1 else "failed")
            if state == "failed":
                assert (after, settled) == (before.revision, before.document)


def test_whoever_waits_for_his_turn_is_told_by_the_closed_connection(tmp_path: Path) -> None:
    with AgentProcess(tmp_path, step_s=0.5) as agent:
        agent.client.commit(document("198.51.100.0/24"), CommitOptions(author="setup"))
        before = agent.client.config()
        ended: dict[str, Exception] = {}

        def commit(author: str) -> None:
            wanted = document(*(f"203.0.{number}.0/24" for number in range(40)))
            try:
                agent.client.commit(wanted, CommitOptions(author=author, request_id=author))
            except AgentUnavailable as error:
                ended[author] = error

        threads = [threading.Thread(target=commit, args=(author,)) for author in ("alice", "bob")]
        for number, thread in enumerate(threads):
            thread.start()
            _wait(partial(_are_under_way, agent, number + 1))
        running, queued = _under_way(agent)
        assert (running.author, queued.author, queued.position) == ("alice", "bob", 1)
        agent.kill()
        for thread in threads:
            thread.join()
        assert set(ended) == {"alice", "bob"}
        agent.start()
        assert _wait_settled(agent) == before.document
        assert _under_way(agent) == []
        assert agent.client.status().revision == before.revision
        for author in ("alice", "bob"):
            error = agent.client.commit_result(author).error
            assert error is not None and "the agent was stopped during the commit" in error["message"]


def _under_way(agent: AgentProcess) -> list[CommitUnderWay]:
    found = agent.client.commits()
    return [one for one in (found.running, *found.queued) if one is not None]


def _are_under_way(agent: AgentProcess, count: int) -> bool:
    return len(_under_way(agent)) == count


def _wait(condition: Callable[[], object], timeout_s: float = 30) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_confirm_timer_runs_out_while_no_agent_runs(tmp_path: Path) -> None:
    with AgentProcess(tmp_path) as agent:
        agent.client.commit(document("198.51.100.0/24"), CommitOptions(author="alice"))
        kept = agent.client.config().document
        answer = agent.client.commit(document("203.0.113.0/24"), CommitOptions(author="alice", confirm_s=1))
        assert answer.confirm_expires_at is not None
        agent.kill()
        time.sleep(1.1)
        agent.start()
        assert _wait_until_revision(agent, 3) == kept
        assert "not confirmed" in agent.client.revisions(1)[0]["comment"]
        assert agent.client.status().pending_confirm is None


def test_a_timer_that_has_not_run_out_is_kept(tmp_path: Path) -> None:
    with AgentProcess(tmp_path) as agent:
        agent.client.commit(document("198.51.100.0/24"), CommitOptions(author="alice"))
        agent.client.commit(document("203.0.113.0/24"), CommitOptions(author="alice", confirm_s=60))
        agent.kill()
        agent.start()
        pending = agent.client.status().pending_confirm
        assert pending is not None
        assert 0 < pending["seconds_left"] <= 60
        agent.client.confirm("alice")
        assert agent.client.status().pending_confirm is None
        assert agent.client.status().revision == 2


def test_stopping_the_agent_changes_nothing(tmp_path: Path) -> None:
    with AgentProcess(tmp_path) as agent:
        agent.client.commit(document("198.51.100.0/24"), CommitOptions(author="alice"))
        live = agent.live()
        assert agent.stop() == 0
        assert agent.live() == live
        assert not agent.socket.exists()
        agent.start()


def _wait_until_revision(agent: AgentProcess, number: int) -> dict[str, Any]:
    deadline = time.monotonic() + 10
    while (config := agent.client.config()).revision != number:
        assert time.monotonic() < deadline, config.revision
        time.sleep(0.02)
    return config.document
