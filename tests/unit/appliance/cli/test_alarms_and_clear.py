"""``show alarms``, ``show events`` and ``clear``, against an agent in memory."""

from __future__ import annotations

from typing import Any, cast

import pytest

from appliance.actions import Action, Done
from appliance.cli.errors import CommandError
from appliance.cli.session import Session
from appliance.client import AgentClient
from appliance.state import Question
from appliance.state.alarms import Alarm, AlarmEvent, Alarms, Events, EventsQuery

ALARM = Alarm(
    kind="bgp_down", object="192.0.2.1", severity="major", summary="down: \x1b[2J",
    since="2026-11-23T08:00:00Z", for_s=61.4, advice="Mend it.", checked=False,
)  # fmt: skip
EVENT = AlarmEvent(
    number=1, time="2026-11-23T08:00:00Z", event="raised", kind="bgp_down", object="192.0.2.1",
    severity="major", summary="it is down", revision=3,
)  # fmt: skip


class _Agent:
    def __init__(self) -> None:
        self.found = Alarms(looked_s_ago=1.0)
        self.asked: list[Any] = []

    def alarms(self) -> Alarms:
        return self.found

    def events(self, query: EventsQuery) -> Events:
        self.asked.append(query)
        return Events(events=(EVENT,), total=7)

    def act(self, action: Action[Any], question: Question, author: str) -> Done:
        self.asked.append((action.name, question.model_dump(mode="json", exclude_none=True), author))
        return Done(done=("it is done \x1b[2J",))


@pytest.fixture
def agent() -> _Agent:
    return _Agent()


@pytest.fixture
def session(agent: _Agent) -> Session:
    return Session(cast(AgentClient, agent), "nina")


def test_alarms_are_shown_with_what_to_do_and_without_control_characters(
    agent: _Agent, session: Session
) -> None:
    assert session.line("show alarms") == "no active alarms"
    agent.found = Alarms(alarms=(ALARM,), unchecked={"links": "vpp: does not answer"}, looked_s_ago=2.0)
    said = session.line("show alarms")
    assert said.splitlines() == [
        "major  192.0.2.1  for 61 s  (cannot be checked now)",
        "    down: ?[2J",
        "    Mend it.",
        "not checked: links: vpp: does not answer",
    ]


def test_nothing_known_is_not_said_to_be_well(agent: _Agent, session: Session) -> None:
    agent.found = Alarms()
    assert session.line("show alarms") == "the router has not been checked yet"


def test_events_are_a_table(agent: _Agent, session: Session) -> None:
    said = session.line("show events 1")
    assert "raised" in said and "it is down" in said and said.endswith("`events COUNT` shows more")
    assert agent.asked == [EventsQuery(limit=1)]
    for line in ("show events 0", "show events x", "show events 1 2", "show alarms now"):
        with pytest.raises(CommandError):
            session.line(line)


@pytest.mark.parametrize(
    ("line", "name", "question"),
    [
        ("clear bgp 192.0.2.1", "clear-bgp", {"neighbor": "192.0.2.1"}),
        ("clear bgp all soft in", "clear-bgp", {"neighbor": "all", "soft": "in"}),
        (
            "clear bgp 2001:DB8::1 soft out ipv6",
            "clear-bgp",
            {"neighbor": "2001:db8::1", "soft": "out", "family": "ipv6_unicast"},
        ),
        ("clear ospf neighbor 10.0.0.9", "clear-ospf-neighbor", {"neighbor": "10.0.0.9"}),
        ("clear ospf interface core0", "clear-ospf-neighbor", {"interface": "core0"}),
        ("clear nat-sessions all", "clear-nat-sessions", {"all": True}),
        ("clear neighbors all", "clear-neighbors", {"all": True}),
        ("clear neighbors interface lan0", "clear-neighbors", {"interface": "lan0", "all": False}),
        (
            "clear neighbors interface lan0 address FE80::2",
            "clear-neighbors",
            {"interface": "lan0", "address": "fe80::2", "all": False},
        ),
        (
            "clear nat-sessions inside 10.0.0.9 remote-port 443 protocol tcp",
            "clear-nat-sessions",
            {"inside": "10.0.0.9", "remote_port": 443, "protocol": "tcp", "all": False},
        ),
    ],
)
def test_clear(agent: _Agent, session: Session, line: str, name: str, question: dict[str, Any]) -> None:
    assert session.line(line) == "it is done ?[2J"
    assert agent.asked == [(name, question, "nina")]


@pytest.mark.parametrize(
    "line",
    [
        "clear", "clear bgp", "clear bgp x", "clear bgp all soft", "clear bgp all soft both",
        "clear bgp all ipv4", "clear bgp all soft in ipx",
        "clear bgp all soft in ipv4 more", "clear ospf", "clear ospf neighbor x",
        "clear ospf interface lan0 lan1", "clear isis all",
        "clear nat-sessions", "clear nat-sessions inside", "clear nat-sessions inside lan0",
        "clear nat-sessions all inside 10.0.0.9", "clear nat-sessions all true inside 10.0.0.9",
        "clear nat-sessions all false", "clear nat-sessions limit 5", "clear nat-sessions port 0",
    ],
)  # fmt: skip
def test_what_is_not_understood_reaches_no_agent(agent: _Agent, session: Session, line: str) -> None:
    with pytest.raises(CommandError):
        session.line(line)
    assert agent.asked == []
