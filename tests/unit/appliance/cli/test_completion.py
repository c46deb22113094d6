"""Completion follows the schema, and the names in the document."""

from __future__ import annotations

from typing import cast

import pytest

from appliance.cli.session import Session
from appliance.cli.terminal import choices, prompt
from appliance.client import AgentClient
from tests.unit.appliance.cli.agent import FakeAgent
from tests.unit.appliance.cli.test_session import DOCUMENT


@pytest.fixture
def session() -> Session:
    session = Session(cast(AgentClient, FakeAgent(DOCUMENT)), "nina")
    session.line("configure")
    session.line("set acls edge-in rules 10 action deny")
    session.line("set routing ospf areas 0.0.0.1 type stub")
    session.line("set routing policy route_maps RM rules 10 action permit")
    return session


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("se", {"set"}),
        ("set ", {"system", "interfaces", "routing", "acls"}),
        ("set interfaces ", {"lan0", "wan0"}),
        ("set interfaces lan0 m", {"mtu", "match"}),
        ("set interfaces lan0 enabled ", {"true", "false"}),
        ("set interfaces lan0 acl_in ", {"edge-in"}),
        ("set interfaces lan0 mtu 1500 de", {"description"}),
        ("set interfaces x0 type ", {"ethernet", "loopback", "sub_interface"}),
        ("set acls edge-in rules 10 action ", {"permit", "deny", "permit_reflect"}),
        ("set acls edge-in rules 10 action deny pro", {"protocol"}),
        ("set routing bgp neighbors 192.0.2.1 ipv4_unicast route_map_in ", {"RM"}),
        ("set routing ospf interfaces ", {"lan0", "wan0"}),
        ("set routing ospf interfaces lan0 area ", {"0.0.0.1"}),
        ("set routing bgp neighbors 192.0.2.1 update_source ", {"lan0", "wan0"}),
        ("set routing static 10.0.0.0/8 next_hops ", {"address", "interface"}),
        ("set routing static 10.0.0.0/8 next_hops interface ", {"lan0", "wan0"}),
        ("delete interfaces lan0 addresses ", {"10.10.0.1/24"}),
        ("edit routing bgp neighbors ", {"192.0.2.1"}),
        ("commit ", {"confirmed", "comment"}),
        ("run show ", {"interfaces", "bgp"}),
        ("show interfaces | ", {"json"}),
    ],
)
def test_what_can_follow(session: Session, line: str, some: set[str]) -> None:
    assert some <= {word for word, _ in choices(session, line)[0]}


@pytest.mark.parametrize(
    "line", ["set nowhere ", "set interfaces lan0 nothing ", "frob ", "set 'open", "set | | "]
)
def test_where_nothing_can_follow_nothing_is_offered(session: Session, line: str) -> None:
    assert [
        word
        for word, _ in choices(session, line)[0]
        if word not in ("json", "set", "match", "count", "compare")
    ] == []


CLEARED = {"bgp", "counters", "neighbors", "ospf", "nat-sessions"}


def test_what_can_be_cleared_is_offered(session: Session) -> None:
    session.candidate = None
    assert {word for word, _ in choices(session, "clear ")[0]} == CLEARED
    assert {"alarms", "events"} <= {word for word, _ in choices(session, "show ")[0]}


def test_the_prompt_says_where_one_stands(session: Session) -> None:
    session.line("edit interfaces lan0")
    assert prompt(session, "r1") == "r1[edit interfaces lan0]# "
    session.candidate = None
    assert prompt(session, "r1") == "r1> "
