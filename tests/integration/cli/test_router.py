"""A router set up, changed and rolled back from the command line alone, checked with packets."""

from __future__ import annotations

import time

import pytest

from tests.integration.cli.conftest import CommandLine

pytestmark = pytest.mark.root

SET_UP = """
configure
# Two interfaces, a loopback and BGP with a neighbor that never comes.
set interfaces left0 type ethernet match device nic-l
set interfaces left0 addresses 10.78.1.1/24
edit interfaces right0
set type ethernet match device nic-r
set addresses 10.78.2.1/24
top
set interfaces loop0 type loopback addresses 10.78.255.1/32
set routing static 198.51.100.0/24 next_hops address 10.78.2.2
set routing bgp asn 65000 router_id 10.78.255.1
set routing bgp neighbors 10.78.2.2 remote_asn 65001 password "not-shown" ipv4_unicast
check
commit comment first light
exit
"""


@pytest.fixture(scope="module")
def cli(router: CommandLine) -> CommandLine:
    router.done(stdin=SET_UP)
    return router


def test_the_router_forwards_and_shows_itself(cli: CommandLine) -> None:
    assert cli.ping("10.78.2.2")
    interfaces = {row["name"]: row for row in cli.json("show", "interfaces")}
    assert interfaces["left0"]["link"] == "up"
    assert "10.78.1.1/24" in cli.done("show", "interfaces")
    routes = cli.json("show", "route", "198.51.100.0/24")["routes"]
    assert [(route["protocol"], route["consistent"]) for route in routes] == [("static", True)]
    assert "static" in cli.done("show", "route", "198.51.100.7")
    assert "10.78.2.2" in cli.done("show", "bgp")
    assert cli.json("show", "bgp", "neighbors", "10.78.2.2")["remote_asn"] == 65001
    assert cli.json("show", "drift") == []
    for words in (
        "counters",
        "neighbors",
        "ospf",
        "hardware",
        "health",
        "status",
        "revisions",
        "acl",
        "control-plane",
    ):
        assert cli.done("show", words).strip()
        cli.json("show", words)
    assert "not-shown" not in cli.done("show", "config")
    assert "0% packet loss" in cli.done("ping", "10.78.2.2", "count", "2")


def test_a_ping_is_denied_counted_and_let_through_again(cli: CommandLine) -> None:
    before = cli.json("show", "status")["revision"]
    cli.done(
        "-c",
        "configure; set acls edge rules 10 action deny protocol icmp icmp_type 8;"
        " set acls edge rules 20 action permit; set interfaces left0 acl_in edge; commit comment no ping",
    )
    assert not cli.ping("10.78.2.2")
    rules = {rule["sequence"]: rule for rule in cli.json("show", "acl", "edge")[0]["rules"]}
    assert rules[10]["packets"] == 2
    assert "deny" in cli.done("show", "acl")
    assert f"revision {before + 2}" in cli.done("rollback", str(before))
    assert cli.ping("10.78.2.2")


def test_what_is_not_confirmed_comes_back(cli: CommandLine) -> None:
    cli.done("-c", "configure; set interfaces right0 enabled false; commit confirmed 2")
    assert not cli.ping("10.78.2.2")
    end = time.monotonic() + 15
    while cli.json("show", "config").get("interfaces", {})["right0"].get("enabled") is False:
        assert time.monotonic() < end, "it was not rolled back"
        time.sleep(0.3)
    assert cli.ping("10.78.2.2")
    cli.done("-c", "configure; set interfaces right0 mtu 1400; commit confirmed 60; confirm")
    assert cli.json("show", "status")["pending_confirm"] is None
    cli.done("-c", "configure; delete interfaces right0 mtu; commit")


def test_mistakes_are_told_and_change_nothing(cli: CommandLine) -> None:
    before = cli.json("show", "status")["revision"]
    for commands, status, says in (
        ("show nowhere", 2, "there is no command show nowhere"),
        (
            "configure; set interfaces left0 mtu lots; commit",
            1,
            "/interfaces/left0/mtu: must be a whole number",
        ),
        ("configure; set interfaces left0 acl_in nowhere; commit", 1, "there is no access list nowhere"),
        (
            "configure; set interfaces x0 type ethernet match device eth9; commit",
            1,
            "there is no NIC named eth9",
        ),
        ("configure; set interfaces left0 mtu 1400", 1, "was not committed"),
        ("rollback 4000", 1, "4000"),
    ):
        run = cli.run("-c", commands)
        assert (run.returncode, says in run.stderr) == (status, True), run.stderr
    assert cli.json("show", "status")["revision"] == before


def test_it_runs_as_a_program(cli: CommandLine) -> None:
    run = cli.run_apart("show", "interfaces", "|", "match", "left0")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("left0")


def test_without_an_agent_it_says_so(cli: CommandLine) -> None:
    run = cli.run("--socket", "/nowhere/agent.sock", "show", "status")
    assert run.returncode == 3
    assert "/nowhere/agent.sock" in run.stderr
