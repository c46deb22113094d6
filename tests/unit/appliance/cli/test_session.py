"""What lines do in a session, against an agent in memory."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from appliance.cli import operational
from appliance.cli.errors import CommandError
from appliance.cli.session import Leave, Session
from appliance.client import AgentClient
from appliance.client.answers import PlanAnswer
from appliance.errors import NotFound, RouterUnavailable, ValidationFailed
from appliance.state.commit_options import CommitOptions
from tests.unit.appliance.cli.agent import FakeAgent

DOCUMENT: dict[str, Any] = {
    "schema_version": 1,
    "interfaces": {
        "wan0": {"type": "ethernet", "match": {"device": "nic-wan"}, "addresses": ["192.0.2.2/30"]},
        "lan0": {"type": "ethernet", "match": {"device": "nic-lan"}, "addresses": ["10.10.0.1/24"]},
    },
    "routing": {
        "bgp": {
            "asn": 65000,
            "neighbors": {"192.0.2.1": {"remote_asn": 65001, "password": "hidden-word", "ipv4_unicast": {}}},
        }
    },
}


@pytest.fixture
def agent() -> FakeAgent:
    return FakeAgent(DOCUMENT)


@pytest.fixture
def session(agent: FakeAgent) -> Session:
    return Session(cast(AgentClient, agent), "nina")


def configure(session: Session, *lines: str) -> dict[str, Any]:
    """The candidate after these lines."""
    session.line("configure")
    for line in lines:
        session.line(line)
    assert session.candidate is not None
    return session.candidate.document


def test_set_follows_the_document_and_makes_what_is_missing(session: Session) -> None:
    document = configure(
        session,
        "set interfaces lan0 mtu 9000",
        "set interfaces lan0 enabled no",
        'set interfaces lan0 description "to the lan"',
        "set acls edge-in rules 10 action deny protocol icmp source 10.10.0.2/32",
        "set interfaces lan0 acl_in edge-in",
        "set interfaces lan0 addresses 2001:db8:10::1/64",
        "set interfaces lan0 addresses 2001:db8:10::1/64",
        "set routing static 198.51.100.0/24 next_hops address 192.0.2.1 distance 10",
        "set routing static 198.51.100.0/24 next_hops address 10.10.0.9",
        "set routing static 198.51.100.0/24 next_hops 0 distance 20",
        "set routing bgp neighbors 192.0.2.1 ipv6_unicast",
        "set routing bgp neighbors 192.0.2.1 remote_asn external",
    )
    lan0 = document["interfaces"]["lan0"]
    assert (lan0["mtu"], lan0["enabled"], lan0["description"]) == (9000, False, "to the lan")
    assert lan0["addresses"] == ["10.10.0.1/24", "2001:db8:10::1/64"]
    assert lan0["acl_in"] == ["edge-in"]
    assert document["acls"]["edge-in"]["rules"]["10"] == {
        "action": "deny",
        "protocol": "icmp",
        "source": "10.10.0.2/32",
    }
    assert document["routing"]["static"]["198.51.100.0/24"]["next_hops"] == [
        {"address": "192.0.2.1", "distance": 20},
        {"address": "10.10.0.9"},
    ]
    neighbor = document["routing"]["bgp"]["neighbors"]["192.0.2.1"]
    assert (neighbor["ipv6_unicast"], neighbor["remote_asn"]) == ({}, "external")


def test_delete_takes_a_setting_an_entry_or_an_element(session: Session) -> None:
    document = configure(
        session,
        "delete interfaces lan0 addresses 10.10.0.1/24",
        "delete routing bgp neighbors 192.0.2.1 password",
        "delete interfaces wan0",
    )
    assert document["interfaces"] == {"lan0": {"type": "ethernet", "match": {"device": "nic-lan"}}}
    assert document["routing"]["bgp"]["neighbors"]["192.0.2.1"] == {"remote_asn": 65001, "ipv4_unicast": {}}


def test_edit_up_and_top_move_where_paths_begin(session: Session) -> None:
    configure(session, "edit routing bgp neighbors 192.0.2.1", "set timers hold_s 30 keepalive_s 10", "up")
    assert session.candidate is not None
    assert session.candidate.at == ("routing", "bgp", "neighbors")
    session.line("top")
    assert session.candidate.at == ()
    assert "hold_s 30" in session.line("show routing bgp")


def test_show_never_shows_a_secret(session: Session) -> None:
    configure(session, "set routing bgp neighbors 192.0.2.1 password another-word")
    for line in ("show", "show routing bgp", "compare", "show | json", "run show config", "compare | json"):
        said = session.line(line)
        assert "hidden-word" not in said
        assert "another-word" not in said


def test_the_configuration_as_set_commands(session: Session) -> None:
    lines = session.line("show config | display set").splitlines()
    assert lines[:3] == [
        "set interfaces wan0 type ethernet",
        "set interfaces wan0 match device nic-wan",
        "set interfaces wan0 addresses 192.0.2.2/30",
    ]
    assert "set routing bgp neighbors 192.0.2.1 password ********" in lines
    assert not any("hidden-word" in line or "schema_version" in line for line in lines)
    part = session.line("show config interfaces lan0 addresses | set")
    assert part == "set interfaces lan0 addresses 10.10.0.1/24"
    configure(session, "edit interfaces lan0", 'set description "the #1 \\"lan\\""')
    lines = session.line("show | set").splitlines()
    assert 'set interfaces lan0 description "the #1 \\"lan\\""' in lines
    assert session.line("show | set | match mtu") == ""
    with pytest.raises(CommandError, match="for the configuration"):
        session.line("run show interfaces | set")


def test_a_list_says_a_value_twice_by_its_position(session: Session) -> None:
    path = "set routing policy route_maps out rules 10"
    document = configure(
        session,
        f"{path} action permit",
        f"{path} set as_path_prepend 65000",
        f"{path} set as_path_prepend 1 65000",
        f"{path} set as_path_prepend 65001 metric 5",
        f"{path} set as_path_prepend 3 64999 metric 7",
    )
    rule = document["routing"]["policy"]["route_maps"]["out"]["rules"]["10"]
    assert rule["set"] == {"as_path_prepend": [65000, 65000, 65001, 64999], "metric": 7}
    with pytest.raises(CommandError, match="the next position is 4, not 9"):
        session.line(f"{path} set as_path_prepend 9 65000")


def test_compare_and_commit(session: Session, agent: FakeAgent) -> None:
    configure(session, "set interfaces lan0 mtu 1400", "set interfaces loop0 type loopback")
    assert session.line("compare").splitlines() == [
        "+ interfaces lan0 mtu 1400",
        '+ interfaces loop0 {"type": "loopback"}',
    ]
    assert "revision 2" in session.line("commit confirmed 60 comment small packets")
    (options,) = agent.commits
    assert options == CommitOptions(
        author="nina", comment="small packets", confirm_s=60, request_id=options.request_id
    )
    assert session.line("compare") == "no changes"


def test_check_says_what_would_stop_a_commit_and_commit_is_stopped_by_it(session: Session) -> None:
    configure(session, "set interfaces lan0 acl_in nowhere")
    assert "there is no access list nowhere" in session.line("check")
    with pytest.raises(ValidationFailed):
        session.line("commit")


def test_check_as_json_has_all_that_the_text_says(session: Session, agent: FakeAgent) -> None:
    session.line("configure")
    assert json.loads(session.line("check | json")) == {"problems": [], "plan": None}
    session.line("set interfaces lan0 mtu 1400")
    finding = {
        "grade": "certain",
        "kind": "traffic",
        "path": "/interfaces/lan0",
        "text": "lan0 loses packets",
    }
    step = {"backend": "linux", "summary": "set the MTU of lan0", "impact": "none"}
    plan = {"steps": [step], "impacts": [], "result": {"findings": [finding]}, "own_path": []}
    agent.planned = PlanAnswer(plan, summary=["1 step"])
    assert session.line("check").splitlines()[-2:] == ["certain: lan0 loses packets", "1 step"]
    assert json.loads(session.line("check | json")) == {
        "problems": [],
        "plan": {**plan, "summary": ["1 step"]},
    }
    agent.planned = RouterUnavailable("frr does not answer")
    assert "unknown: frr does not answer" in session.line("check")
    assert json.loads(session.line("check | json")) == {
        "problems": [],
        "plan": None,
        "plan_error": "frr does not answer",
    }
    session.line("set interfaces lan0 acl_in nowhere")
    stopped = json.loads(session.line("check | json"))
    assert [problem["pointer"] for problem in stopped["problems"]] == ["/interfaces/lan0/acl_in/0"]
    assert stopped["plan"] is None


def test_rollback_in_configure_makes_a_candidate_and_outside_a_commit(
    session: Session, agent: FakeAgent
) -> None:
    configure(session, "set interfaces lan0 mtu 1400", "commit", "rollback 1")
    assert session.line("compare") == "- interfaces lan0 mtu 1400"
    session.line("discard")
    session.line("exit")
    assert "revision 3" in session.line("rollback 1")
    assert agent.documents[3] == DOCUMENT


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("set interfaces lan0 mtu", "mtu needs a value"),
        ("set interfaces lan0 nothing 1", "interfaces lan0 has no setting nothing"),
        ("set interfaces lan0 enabled perhaps", "enabled is true or false"),
        ("set acls a rules 10 action maybe", "action is one of permit, deny, permit_reflect"),
        ("set system hostname a b", "'b' is not expected after hostname"),
        ("set", "set what"),
        ("delete interfaces none0", "there is no interfaces none0"),
        ("edit interfaces lan0 mtu", "is a value"),
        ("show nowhere", "there is no setting"),
        ("commit now", "commit [confirmed"),
        ("c", "ambiguous"),
        ("frobnicate", "there is no command"),
        ("set system banner 'open", "cannot be read"),
        ("show | tee file", "after | use"),
    ],
)
def test_what_is_not_understood_is_said_so(session: Session, line: str, says: str) -> None:
    before = configure(session)
    with pytest.raises(CommandError, match=says.replace("|", r"\|").replace("[", r"\[")):
        session.line(line)
    assert session.candidate is not None
    assert session.candidate.document == before


def test_packets_for_the_router_itself_are_shown_by_reason(session: Session) -> None:
    shown = [line.split() for line in session.line("show control-plane").splitlines()]
    assert ["wan0", "dropped", "tcp", "12"] in shown and ["lan0", "accepted", "bgp", "7"] in shown
    assert ["ipv4", "50000", "7", "3"] in shown
    assert not any("udp" in line for line in shown)
    one = session.line("show control-plane wan0")
    assert "udp" in one and "lan0" not in one and "50000" not in one
    assert json.loads(session.line("show control-plane wan0 | json"))["interfaces"][0]["dropped"]["tcp"] == 12
    with pytest.raises(CommandError, match="nic0 is not a data interface"):
        session.line("show control-plane nic0")


def test_operational_shows_are_text_or_json(session: Session) -> None:
    assert "192.0.2.2/30" in session.line("show interfaces")
    assert json.loads(session.line("show interfaces wan0 | json"))["counters"]["rx_packets"] == 7
    assert json.loads(session.line("sh config | json"))
    for same in ("configuration", "running-config"):
        assert session.line(f"show {same} | json") == session.line("show config | json")
    assert "all daemons run" in session.line("show health | match frr")
    with pytest.raises(NotFound):
        session.line("rollback 77")
    session.as_json = True
    assert json.loads(session.line("show drift")) == []


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (None, None),
        (999, "00:00:00"),
        (3_723_000, "01:02:03"),
        (86_399_000, "23:59:59"),
        (273_600_000, "3d04h"),
    ],
)
def test_how_long_a_session_is_up(milliseconds: float | None, shown: str | None) -> None:
    assert operational._clock(milliseconds) == shown


def test_what_a_family_exchanges() -> None:
    counts = {"prefixes_received": 1234, "prefixes_sent": 0}
    assert operational._exchanged("ipv4_unicast", counts) == "ipv4 unicast 1,234 received 0 sent"
    assert operational._exchanged("ipv6_unicast", {"prefixes_sent": None}) == "ipv6 unicast"


def test_a_neighbor_cannot_drive_the_terminal(session: Session) -> None:
    assert "\x1b" not in session.line("show bgp")


def test_several_commands_on_one_line(session: Session, agent: FakeAgent) -> None:
    session.line("configure; set system hostname edge1; commit; exit")
    assert agent.documents[-1]["system"] == {"hostname": "edge1"}
    with pytest.raises(Leave):
        session.line("exit")


def test_show_status_begins_with_what_is_damaged() -> None:
    agent = FakeAgent(DOCUMENT)
    whole = agent.status()
    told = "revision 9 is damaged (it was altered); revision 8 runs instead\x1b[2J"
    agent.status = lambda: type(whole)({**whole, "damage": [told]})  # type: ignore[method-assign]  # this one
    shown = Session(cast(AgentClient, agent), "ann").line("show status")
    assert shown.startswith("WARNING: revision 9 is damaged (it was altered); revision 8 runs instead")
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("show route protocol A_B", "protocol: must be a protocol such as connected"),
        ("show route limit 0", "limit: must be at least 1"),
        ("show route 10.0.0.1 10.0.0.2", "'10.0.0.2' is not expected here"),
        ("show route ipv4 ipv6", "ipv6: family is given twice"),
        ("show route protocol", "protocol needs a value"),
        ("show route longer", "within: needs a prefix or an address"),
        ("show route 10.0.0.0/8 ipv6", "family: must be the family of the prefix"),
        ("show bgp routes as 1 as 2", "as: asn is given twice"),
        ("show log agent severity error severity debug", "severity is given twice"),
        ("show log agent web", "show log [PART] [severity LEAST] [text WORD] [limit N] [-f]"),
        ("ping 10.0.0.1 count 1 count 2", "count is given twice"),
        ("show ospf database router zz", "lsa_id: must be an IPv4 address"),
        ("clear bgp x", "neighbor: must be 'all'; or 'x' is not an IP address"),
        ("show config interfces lan0", "there is no setting interfces lan0"),
        ("show config interfaces lan9", "interfaces lan9 is not set"),
        ("help nope", "there is no command 'nope': help lists the commands"),
    ],
)
def test_a_refusal_says_in_words_what_is_wrong(session: Session, line: str, told: str) -> None:
    with pytest.raises(CommandError) as refused:
        session.line(line)
    assert str(refused.value) == told
