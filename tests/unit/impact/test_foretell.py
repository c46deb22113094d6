"""The result of the analyses: order, bounds, what was not analysed, and the sentences."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from appliance.config.load import parse_document
from appliance.engine.backend import BackendUnavailable
from appliance.features.bgp.sessions import SESSIONS
from appliance.features.interface.impact import LINKS
from appliance.features.ospf.adjacent import ADJACENCIES
from appliance.features.static.table import Table
from appliance.impact.analysis import Analysis, foretell
from appliance.impact.change import Change
from appliance.impact.deadline import Deadline
from appliance.impact.facts import Fact, Live, LiveFacts, ToldFacts
from appliance.impact.result import Finding, Result, summary
from appliance.state.bgp import BgpNeighborState, BgpState
from appliance.state.interfaces import Interfaces
from appliance.state.ospf import OspfState
from tests.unit.impact.changes import found

BEFORE, AFTER = parse_document({}), parse_document({"system": {"hostname": "r2"}})
LIVE = Live(cast("Any", None), cast("Any", None))


def _finding(text: str, grade: Any = "certain", kind: Any = "traffic") -> Finding:
    return Finding(grade=grade, kind=kind, path="", text=text)


def _analysis(*findings: Finding) -> Analysis:
    return Analysis("things", lambda _: iter(findings))


def test_certain_ones_come_first_and_management_before_sessions_and_packets() -> None:
    given = (
        _finding("a", "possible", "management"),
        _finding("b"),
        _finding("c", kind="session"),
        _finding("d", kind="management"),
        _finding("b"),
    )
    answer = foretell(Change(BEFORE, AFTER), [_analysis(*given)])
    assert [one.text for one in answer.findings] == ["d", "c", "b", "a"], "and each once"


def test_an_analysis_that_fails_or_takes_too_long_is_told_and_keeps_what_it_found(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def breaks(_change: Change) -> Iterator[Finding]:
        yield _finding("found before")
        raise ZeroDivisionError

    def slow(change: Change) -> Iterator[Finding]:
        yield _finding("found in time")
        while True:
            change.in_time()

    change = Change(BEFORE, AFTER, deadline=Deadline(0.2))
    answer = foretell(change, [Analysis("a", breaks), Analysis("b", slow), Analysis("c", slow)])
    assert [one.text for one in answer.findings] == ["found before", "found in time"]
    assert answer.looked_at == ()
    assert answer.not_looked_at == (
        "a: looking at them failed",
        "b, to the end: it took too long",
        "c, to the end: it took too long",
    )
    assert "the analysis of a failed" in caplog.text


def test_a_long_list_is_cut_and_says_by_how_much() -> None:
    answer = foretell(Change(BEFORE, AFTER), [_analysis(*(_finding(str(at)) for at in range(5000)))])
    assert (len(answer.findings), answer.left_off) == (200, 4800)
    assert "and 4800 more that are not listed" in summary(answer, [])[1]


def test_the_sentences_claim_no_more_than_was_looked_at() -> None:
    nothing = Result(looked_at=("a", "b"))
    found = "found nothing that closes a session or drops traffic"
    assert summary(nothing, []) == [
        "No step resets a session or loses a packet.",
        f"Looked at: a, b; {found}.",
    ]
    assert summary(nothing, ["resets x", "loses packets on y"])[0] == (
        "While it is applied it resets x; loses packets on y."
    )
    found_some = summary(Result(findings=(_finding("x"),), looked_at=("a",)), [])
    assert found_some[0].startswith("The steps themselves reset no session and lose no packet: what is found")
    blind = summary(Result(not_looked_at=("a: why",)), [])
    assert blind[1:] == ["Nothing was looked at.", "Not looked at: a: why."]
    assert found not in " ".join(summary(Result(findings=(_finding("x"),), looked_at=("a",)), []))


def test_facts_are_read_once_in_time_and_a_silent_router_is_told() -> None:
    reads: list[int] = []
    hold = threading.Event()

    def away(_live: Live) -> int:
        raise BackendUnavailable("frr", "is down")

    def counted(_live: Live) -> int:
        reads.append(1)
        return 7

    good, bad = Fact("good", counted), Fact("bad", away)
    slow: Fact[bool] = Fact("slow", lambda _: hold.wait(120))
    with ThreadPoolExecutor(2) as readers:
        facts = LiveFacts(LIVE, readers, Deadline(0.3))
        assert (facts.of(good), facts.of(good), facts.of(bad)) == (7, 7, None)
        # If it waited for the reading, it would know what was read.
        assert facts.of(slow) is None and facts.of(slow) is None
        hold.set()
    assert len(reads) == 1
    assert facts.untold == {"bad": "frr: is down", "slow": "there was no answer in time"}


def _large(count: int, rules: int, **more: Any) -> dict[str, Any]:
    listed = {
        str(at + 10): {
            "action": "deny",
            "protocol": "tcp",
            "source": f"172.{16 + (at >> 12)}.{at >> 4 & 255}.{(at & 15) * 16}/28",
        }
        for at in range(rules)
    }
    listed |= {"20000": {"action": "permit"}, "20010": {"action": "permit", "family": "ipv6"}}
    nets = [f"10.{at >> 6}.{(at & 63) * 4}" for at in range(count)]
    return {
        "interfaces": {
            f"e{at}": {
                "type": "ethernet",
                "match": {"device": f"n{at}"},
                "addresses": [f"{net}.1/30"],
                "acl_in": ["big"],
            }
            for at, net in enumerate(nets)
        },
        "acls": {"big": {"rules": {**listed, **more}}},
        "routing": {
            "bgp": {
                "asn": 65000,
                "router_id": "10.255.0.1",
                "neighbors": {f"{net}.2": {"remote_asn": 65001, "ipv4_unicast": {}} for net in nets},
            }
        },
    }


def test_a_thousand_neighbors_behind_ten_thousand_rules_are_all_looked_at() -> None:
    before = parse_document(_large(1000, 10_000))
    after = parse_document(_large(1000, 10_000, **{"5": {"action": "deny", "protocol": "tcp"}}))
    up = {one: BgpNeighborState(state="Established") for one in _neighbors(before)}
    told = ToldFacts(
        {
            SESSIONS: BgpState(neighbors=up),
            LINKS: Interfaces(interfaces=()),
            ADJACENCIES: OspfState(),
        }
    )
    began = time.thread_time()
    answer = foretell(Change(before, after, told))
    assert time.thread_time() - began < 5, "CPU seconds; some 0.7 on one idle core"
    assert answer.not_looked_at == ()
    assert len(answer.findings) == 200
    assert answer.left_off == 2000 - 200, "a session and its packets on each interface"
    assert {one.kind for one in answer.findings} == {"session"}


def _neighbors(config: Any) -> list[str]:
    return list(config.routing.bgp.neighbors)


def test_tables_that_several_analyses_ask_for_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With thousands of static routes, they are the most expensive part of foretelling one line."""
    made: list[Table] = []
    make = Table.__init__

    def counted(self: Table, *arguments: Any) -> None:
        made.append(self)
        make(self, *arguments)

    monkeypatch.setattr(Table, "__init__", counted)
    bgp: dict[str, Any] = {"ipv4_unicast": {"redistribute": {"static": {}}}}
    findings = found(
        {"routing": {"static": {"198.51.100.0/24": None}}},
        first={"routing": {"bgp": bgp, "ospf": {"redistribute": {"static": {}}}}},
    )
    assert {one.path for one in findings} >= {"/routing/static/198.51.100.0~124"}
    assert len(made) == 2, "one before the change and one after it"


def test_waiting_for_the_plan_is_not_counted() -> None:
    """The foretelling begins while the router is observed, which may take longer than its own budget."""
    deadline = Deadline(0.1)

    def remade() -> frozenset[str]:
        with deadline.stopped():
            time.sleep(0.2)
        return frozenset({"wan0"})

    def waits(change: Change) -> Iterator[Finding]:
        change.in_time()
        change.remade()
        change.in_time()
        yield _finding("after the plan")

    answer = foretell(Change(BEFORE, AFTER, deadline=deadline, remade=remade), [Analysis("a", waits)])
    assert [one.text for one in answer.findings] == ["after the plan"]
    assert answer.not_looked_at == ()
