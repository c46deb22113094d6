"""The first boot's work once the rest of the router runs: document, database, resolvers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from appliance.client import CommitAnswer, ConfigAnswer, StatusAnswer
from appliance.errors import AgentUnavailable, CommitFailed, Problem, ValidationFailed
from appliance.firstboot.database import Psql, prepare_database
from appliance.firstboot.first_document import commit_first_document, merged
from appliance.firstboot.resolvers import learned, write_resolvers
from appliance.programs import ProgramFailed, Ran
from appliance.state.commit_options import CommitOptions
from tests.unit.firstboot.conftest import Host

SYSTEM = {"hostname": "r1", "dns_servers": ["192.0.2.53"]}


@dataclass
class FakeAgent:
    """An agent that accepts every document but those in ``refuses``."""

    refuses: dict[str, Exception] = field(default_factory=dict)
    down_for: int = 0
    revision: int = 0
    running: dict[str, Any] = field(
        default_factory=lambda: {"schema_version": 1, "system": {"hostname": "millrace", "timezone": "UTC"}}
    )

    def status(self) -> StatusAnswer:
        if self.down_for:
            self.down_for -= 1
            raise AgentUnavailable("not yet")
        return StatusAnswer(revision=self.revision)

    def config(self) -> ConfigAnswer:
        return ConfigAnswer(revision=self.revision, document=self.running)

    def commit(self, document: dict[str, Any], options: CommitOptions) -> CommitAnswer:
        assert options.author == "first boot" and options.comment
        if (error := self.refuses.get(document.get("name", ""))) is not None:
            raise error
        self.running, self.revision = document, self.revision + 1
        return CommitAnswer(revision=self.revision)


def wait(host: Host, document: dict[str, Any] | None, system: dict[str, Any]) -> None:
    host.boot()
    host.layout.first_document.write_text(json.dumps({"document": document, "system": system}))


def commit(host: Host, agent: FakeAgent) -> int | None:
    return commit_first_document(host.layout, lambda: agent, lambda _: None, lambda: 0.0)


def test_nothing_waits(host: Host) -> None:
    assert commit(host, FakeAgent()) is None


def test_the_document_is_committed_once(host: Host) -> None:
    wait(host, {"name": "good", "system": {"hostname": "own"}}, SYSTEM)
    agent = FakeAgent(down_for=3)
    assert commit(host, agent) == 1
    assert agent.running == {"name": "good", "system": {"hostname": "own", "dns_servers": ["192.0.2.53"]}}
    assert not host.layout.first_document.exists()
    assert commit(host, agent) is None


def test_without_a_document_the_host_settings_are_committed() -> None:
    running = {"system": {"hostname": "millrace", "timezone": "UTC"}, "interfaces": {"a": {}}}
    assert merged(None, running, SYSTEM) == {
        "system": {"hostname": "r1", "timezone": "UTC", "dns_servers": ["192.0.2.53"]},
        "interfaces": {"a": {}},
    }
    assert merged({"system": 7}, running, SYSTEM) == {"system": 7}, "the agent names what is wrong with it"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValidationFailed([Problem("/interfaces/wan/match", "there is no NIC")]), "/interfaces/wan/match"),
        (CommitFailed("create wan", "no memory"), "create wan: no memory"),
    ],
)
def test_a_refused_document_is_told_and_tried_again(host: Host, error: Exception, words: str) -> None:
    wait(host, {"name": "bad"}, SYSTEM)
    agent = FakeAgent(refuses={"bad": error})
    assert commit(host, agent) is None
    assert words in json.loads(host.layout.report.read_bytes())["problems"][0]
    assert agent.running["system"]["hostname"] == "r1", "the host settings hold even so"
    assert (agent.revision, host.layout.first_document.exists()) == (1, True)
    # At the next boot the missing NIC is there.
    agent.refuses.clear()
    assert commit(host, agent) == 2
    assert not host.layout.first_document.exists()


def test_nobodys_commit_is_overwritten(host: Host) -> None:
    wait(host, {"name": "bad"}, {})
    agent = FakeAgent(refuses={"bad": ValidationFailed([Problem("/a", "no")])})
    commit(host, agent)
    agent.refuses.clear()
    agent.commit({"name": "by hand"}, CommitOptions(author="first boot", comment="x"))
    assert commit(host, agent) is None
    assert agent.running == {"name": "by hand"}
    assert not host.layout.first_document.exists()


def test_an_agent_that_never_comes_up(host: Host) -> None:
    wait(host, {"name": "good"}, {})
    ticks = iter(range(0, 10_000, 100))
    with pytest.raises(AgentUnavailable):
        commit_first_document(
            host.layout, lambda: FakeAgent(down_for=10_000), lambda _: None, lambda: float(next(ticks))
        )
    assert host.layout.first_document.exists()


def test_a_database_that_does_not_answer_is_named(host: Host) -> None:
    host.programs.answers["psql"] = Ran(2, "", "could not connect to server")
    with pytest.raises(ProgramFailed, match="psql: could not connect"):
        prepare_database(Psql(host.programs))


NETWORKCTL = {
    "Name": "ens3",
    "DNS": [
        {"Family": 2, "Address": [10, 0, 2, 3], "ConfigSource": "DHCPv4"},
        {"Family": 2, "Address": [10, 0, 2, 3], "ConfigSource": "DHCPv4"},
        {"Family": 10, "Address": [254, 192, *[0] * 13, 3], "ConfigSource": "NDisc"},
        {"Family": 10, "Address": [254, 128, *[0] * 13, 3], "ConfigSource": "NDisc"},
        {"Family": 2, "Address": [10, 0, 999, 3]},
    ],
    "NTP": [
        {"Family": 2, "Address": [192, 0, 2, 123]},
        {"Server": "ntp.example.net"},
        {"Server": "x iburst\nserver evil"},
    ],
    "SearchDomains": [{"Domain": "example.net."}, {"Domain": "evil\nnameserver 1.2.3.4"}],
}


def test_what_the_network_says_is_taken_with_care() -> None:
    said = learned(NETWORKCTL)
    assert said.dns == ("10.0.2.3", "fec0::3")
    assert said.ntp == ("192.0.2.123", "ntp.example.net")
    assert said.domains == ("example.net",)
    assert learned({"DNS": "no", "NTP": [7], "SearchDomains": None}).dns == ()


def test_resolvers_follow_dhcp(host: Host) -> None:
    host.boot()
    host.programs.answers["networkctl"] = Ran(0, json.dumps(NETWORKCTL), "")
    write_resolvers(host.layout, host.programs)
    assert "search example.net\nnameserver 10.0.2.3\nnameserver fec0::3\n" in host.text("etc/resolv.conf")
    assert "server 192.0.2.123 iburst\n" in host.text("run/chrony-dhcp/millrace.sources")
    assert host.programs.ran[-1] == ["chronyc", "reload", "sources"]
    before = len(host.programs.ran)
    write_resolvers(host.layout, host.programs)
    assert [argv[0] for argv in host.programs.ran[before:]] == ["networkctl"], "nothing to tell chrony"


def test_the_documents_resolvers_win(host: Host) -> None:
    host.boot()
    host.programs.answers["networkctl"] = Ran(0, json.dumps(NETWORKCTL), "")
    (host.layout.etc / "resolv.conf").write_text("# Written by Millrace from its configuration document.\n")
    write_resolvers(host.layout, host.programs)
    assert "nameserver" not in host.text("etc/resolv.conf")


def test_the_seeds_resolvers_win_over_dhcp(host: Host) -> None:
    host.seed(dns_servers="192.0.2.53")
    host.boot()
    host.programs.answers["networkctl"] = Ran(0, json.dumps(NETWORKCTL), "")
    write_resolvers(host.layout, host.programs)
    assert "nameserver 192.0.2.53\n" in host.text("etc/resolv.conf")
    assert "10.0.2.3" not in host.text("etc/resolv.conf")


@pytest.mark.parametrize(
    ("seeded", "hosts_line", "search"),
    [
        ({}, "127.0.1.1 r1", "example.net"),
        ({}, "127.0.1.1 r1.example.com r1", "example.com"),
        ({"search_domains": "example.com example.org"}, None, "example.com example.org"),
        ({"search_domains": "example.com example.org"}, "127.0.1.1 r1.lab.example r1", "lab.example"),
        ({"search_domains": "example.com example.org"}, "127.0.1.1 r1", "example.com example.org"),
    ],
)
def test_names_are_looked_up_in_the_routers_own_domain(
    host: Host, seeded: dict[str, str], hosts_line: str | None, search: str
) -> None:
    """Whether the seed or a later commit named it, together with the servers from DHCP."""
    host.seed(**seeded)
    host.boot()
    if hosts_line is not None:
        (host.layout.etc / "hosts").write_text(f"127.0.0.1 localhost\n{hosts_line}\n")
    host.programs.answers["networkctl"] = Ran(0, json.dumps(NETWORKCTL), "")
    write_resolvers(host.layout, host.programs)
    assert f"search {search}\nnameserver 10.0.2.3\n" in host.text("etc/resolv.conf")


def test_an_answer_that_is_lost_overwrites_nothing_later(host: Host) -> None:
    wait(host, {"name": "good"}, {})
    agent = FakeAgent(refuses={"good": AgentUnavailable("no answer in time")})
    with pytest.raises(AgentUnavailable):
        commit(host, agent)
    agent.refuses.clear()
    agent.commit({"name": "by hand"}, CommitOptions(author="first boot", comment="x"))
    assert commit(host, agent) is None
    assert agent.running == {"name": "by hand"}
