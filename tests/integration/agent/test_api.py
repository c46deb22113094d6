"""The agent's endpoints through its own client, over a real socket."""

from __future__ import annotations

import asyncio
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from appliance.client import AgentClient, AsyncAgentClient
from appliance.errors import AgentUnavailable, CommitFailed, Conflict, NotFound, ValidationFailed
from appliance.state.bgp import BGP_NEIGHBOR, BgpNeighborQuery
from appliance.state.commit_options import CommitOptions
from appliance.state.commits import CommitUnderWay
from appliance.state.health import HEALTH
from appliance.state.interfaces import INTERFACES
from appliance.state.routes import ROUTES, RoutesQuery
from tests.integration.agent.harness import AgentProcess
from tests.unit.engine.toys import document

BGP = {
    "asn": 65000,
    "router_id": "192.0.2.1",
    "neighbors": {"192.0.2.2": {"remote_asn": 65001, "password": "hunter22", "ipv4_unicast": {}}},
}


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentProcess]:
    with AgentProcess(tmp_path_factory.mktemp("agent")) as running:
        yield running


@pytest.fixture
def client(agent: AgentProcess) -> AgentClient:
    return agent.client


def test_plan_commit_and_look_back(client: AgentClient) -> None:
    before = client.status()
    wanted = document("198.51.100.0/24")
    plan = client.plan(wanted)
    assert plan.base_revision == before.revision
    assert [step["backend"] for step in plan.steps] == ["linux", "frr"]
    answer = client.commit(
        wanted, CommitOptions(author="alice", comment="one", confirm_s=30), base_revision=before.revision
    )
    assert (answer.state, answer.revision) == ("done", before.revision + 1)
    assert client.commit_result(answer.request_id) == answer
    with pytest.raises(Conflict, match="awaits confirmation"):
        client.commit(document(), CommitOptions(author="bob"))
    assert client.confirm("bob") == {"revision": answer.revision}
    with pytest.raises(Conflict):
        client.confirm("bob")
    entry = client.revisions(limit=1)[0]
    assert (entry["revision"], entry["author"], entry["comment"]) == (answer.revision, "alice", "one")
    assert client.revision(entry["revision"])["document"] == client.config().document
    status = client.status()
    assert (status.revision, status.drift, status.pending_confirm) == (answer.revision, [], None)
    assert status.digest == client.config().digest
    with pytest.raises(NotFound):
        client.revision(999)
    with pytest.raises(NotFound):
        client.rollback(999, CommitOptions(author="bob"))


def test_errors_come_back_as_they_were_raised(client: AgentClient) -> None:
    wanted = document()
    wanted["interfaces"]["lo1"]["mtu"] = 5
    for call in (
        lambda: client.plan(wanted),
        lambda: client.commit(wanted, CommitOptions(author="alice")),
    ):
        with pytest.raises(ValidationFailed) as failed:
            call()
        assert [problem.pointer for problem in failed.value.problems] == ["/interfaces/lo1/mtu"]
    assert [problem.pointer for problem in client.validate(wanted)] == ["/interfaces/lo1/mtu"]
    with pytest.raises(Conflict):
        client.commit(
            document(), CommitOptions(author="alice"), base_revision=0 if client.status().revision else 9
        )
    with pytest.raises(ValidationFailed) as failed:
        client.commit(document(), CommitOptions.model_construct(author="line\nbreak"))
    assert [problem.pointer for problem in failed.value.problems] == ["/author"]
    with pytest.raises(AgentUnavailable):
        AgentClient("/nonexistent/agent.sock").status()


@pytest.mark.parametrize(
    ("method", "path", "content"),
    [
        ("POST", "/v1/plan", b"{"),
        ("POST", "/v1/plan", b"[]"),
        ("POST", "/v1/plan", b'{"document": [], "more": 1}'),
        ("POST", "/v1/plan", b'{"document": {"a": 1, "a": 2}}'),
        ("POST", "/v1/plan", b"\xff\xfe"),
        ("POST", "/v1/plan", b'{"document": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}"),
        ("POST", "/v1/commit", b'{"document": {}}'),
        ("POST", "/v1/commit", b'{"document": {}, "author": "a", "request_id": "../x"}'),
        ("POST", "/v1/commit", b'{"document": {}, "author": "a", "confirm_s": 0.5}'),
        ("POST", "/v1/rollback", b'{"revision": -1, "author": "a"}'),
        ("POST", "/v1/tools/ping", b'{"destination": "-f"}'),
        ("POST", "/v1/tools/ping", b'{"destination": "192.0.2.1", "count": 1000}'),
        ("POST", "/v1/tools/ping", b'{"destination": "192.0.2.1", "source": "-I x"}'),
        ("GET", "/v1/revisions?limit=x", b""),
        ("GET", "/v1/revisions/x", b""),
        ("GET", "/v1/commits/..%2f..%2fetc", b""),
        ("GET", "/v1/state/routes?prefix=;", b""),
        ("GET", "/v1/state/bgp/neighbors/x", b""),
        ("GET", "/v1/nothing", b""),
        ("DELETE", "/v1/config", b""),
    ],
)
def test_bad_requests_get_a_problem_document(
    agent: AgentProcess, method: str, path: str, content: bytes
) -> None:
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(agent.socket)), base_url="http://agent") as raw:
        answer = raw.request(method, path, content=content)
    assert 400 <= answer.status_code < 500, answer.text
    problem = answer.json()
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert problem["status"] == answer.status_code
    assert isinstance(problem["errors"], list)


def test_secrets_are_sealed_kept_and_never_shown(agent: AgentProcess, client: AgentClient) -> None:
    wanted = document(routing={"bgp": BGP})
    sealed = client.seal(wanted)
    assert "hunter22" not in str(sealed)
    client.commit(sealed, CommitOptions(author="alice"))
    shown = client.config().document
    neighbor = shown["routing"]["bgp"]["neighbors"]["192.0.2.2"]
    assert neighbor["password"].startswith("$sealed$")
    assert agent.live()["frr"]["neighbor 192.0.2.2"] == "65001 hunter22"
    # The same secret in clear, sealed again or masked is not a change.
    again = document(routing={"bgp": BGP})
    assert client.plan(again).diff == []
    again["routing"]["bgp"]["neighbors"] = {"192.0.2.2": {**neighbor, "password": "********"}}
    assert client.plan(again).diff == []
    assert client.seal(again)["routing"]["bgp"] == shown["routing"]["bgp"]
    again["routing"]["bgp"]["neighbors"]["192.0.2.2"]["password"] = "changed1"
    assert [(change["before"], change["after"]) for change in client.plan(again).diff] == [("********",) * 2]
    stranger = document(
        routing={"bgp": {**BGP, "neighbors": {"192.0.2.3": neighbor | {"password": "********"}}}}
    )
    with pytest.raises(ValidationFailed) as failed:
        client.plan(stranger)
    assert failed.value.problems[0].pointer == "/routing/bgp/neighbors/192.0.2.3/password"
    for stored in agent.state_dir.rglob("*.json"):
        assert "hunter22" not in stored.read_text()
    assert "hunter22" not in (agent.directory / "agent.log").read_text()


def test_state_and_counters(client: AgentClient) -> None:
    client.commit(document("198.51.100.0/24"), CommitOptions(author="alice"))
    assert [row.name for row in client.state(INTERFACES).interfaces] == ["lo1"]
    routes = client.state(ROUTES, RoutesQuery(limit=10))
    assert routes.total == 2
    assert [route.consistent for route in routes.routes] == [True, False]
    assert client.state(HEALTH).parts["linux"].state == "up"
    with pytest.raises(NotFound):
        client.state(BGP_NEIGHBOR, BgpNeighborQuery(address="192.0.2.99"))
    stream = client.counters_stream()
    first, second = next(stream), next(stream)
    stream.close()
    assert second["time"] > first["time"]
    assert client.counters()["interfaces"]["lo1"] == {"rx_packets": 7}
    assert client.counters_history(60)[-1]["time"] >= second["time"]


async def test_the_asynchronous_client(agent: AgentProcess) -> None:
    client = AsyncAgentClient(agent.socket)
    try:
        async with asyncio.timeout(5):
            async for sample in client.counters_stream():
                assert "interfaces" in sample
                break
        with pytest.raises(NotFound):
            await client.capture_part("0123456789ab", 0)
    finally:
        await client.aclose()


def test_progress_is_told_until_the_end(client: AgentClient) -> None:
    before, told = client.status().revision, list[CommitUnderWay]()
    alice = CommitOptions(author="alice", wait_s=0)
    answer = client.commit(document("100.64.1.0/24"), alice, progress=told.append)
    assert (answer.state, answer.revision) == ("done", before + 1)
    back = client.rollback(before, alice.asked_as("back"), progress=told.append)
    assert back.state == "done" and all(one.author == "alice" for one in told)


def test_the_socket_is_for_its_group_only(agent: AgentProcess) -> None:
    assert stat.S_IMODE(agent.socket.stat().st_mode) == 0o660
    assert stat.S_IMODE((agent.state_dir / "secret.key").stat().st_mode) == 0o600


def test_a_second_agent_on_the_same_state_refuses_to_run(agent: AgentProcess, tmp_path: Path) -> None:
    second = AgentProcess(tmp_path)
    second.state_dir = agent.state_dir
    config = (agent.directory / "agent.json").read_text().replace(str(agent.socket), str(second.socket))
    (tmp_path / "agent.json").write_text(config)
    with pytest.raises(AssertionError, match="another agent owns"):
        second.start()


def test_many_readers_and_writers(client: AgentClient) -> None:
    """Readers get complete answers while commits run, and each commit has exactly one outcome."""
    outcomes: list[str] = []
    start = client.status().revision

    def write(number: int) -> None:
        for turn in range(5):
            try:
                client.commit(
                    document(f"100.{70 + number}.{turn}.0/24"), CommitOptions(author=f"writer{number}")
                )
                outcomes.append("done")
            except CommitFailed:
                outcomes.append("failed")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        config = client.config()
        assert config.revision >= start
        assert client.plan(config.document)["steps"] is not None
    for thread in threads:
        thread.join()
    assert outcomes == ["done"] * 15
    assert client.status().revision == start + 15
