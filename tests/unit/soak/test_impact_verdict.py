"""How foretold effects are compared with measured ones."""

from __future__ import annotations

from typing import Any

from tests.soak.impact_cases import undone
from tests.soak.impact_changes import WAN4, WAN6
from tests.soak.impact_verdict import CORE, Foretold, Measured, judged
from tests.soak.traffic_flows import Flow, echo_request, flows

FLOWS = frozenset(flows("wan"))


def finding(text: str, path: str = "", grade: str = "certain", kind: str = "traffic") -> dict[str, Any]:
    return {"text": text, "path": path, "grade": grade, "kind": kind}


def told(*findings: dict[str, Any], impacts: tuple[str, ...] = (), document: Any = None) -> Foretold:
    return Foretold(findings, impacts, document or {})


def lost(concerned: Any, **more: Any) -> Measured:
    hit = frozenset(flow for flow in FLOWS if concerned(flow))
    return Measured(disturbed=dict.fromkeys(hit, "all lost"), silent=hit, before=FLOWS, **more)


def of_lan(flow: Flow) -> bool:
    return flow.family == "IPv6" and "lan" in (flow.source, flow.target)


def test_what_nobody_spoke_of() -> None:
    verdict = judged(told(), lost(of_lan, sessions=frozenset({WAN4})))
    assert verdict.untold[0] == f"{WAN4} was lost"
    assert any(one.startswith("IPv6 lan->wan lost packets") for one in verdict.untold)
    assert not any(one.startswith("IPv4") for one in verdict.untold)
    other = judged(told(finding("Packets above 1,300 bytes no longer pass core0")), lost(of_lan))
    assert any(one.startswith("IPv6 lan->wan") for one in other.untold)
    assert not any("lan->core" in one for one in other.untold)


def test_routes_that_go_without_a_word() -> None:
    fewer = Measured(routes={f"received from {WAN6}": (50, 49), f"sent to {WAN4}": (51, 51)})
    assert judged(told(), fewer).untold == [f"routes received from {WAN6}: 50 before, 49 after"]
    spoken = finding(f"IPv6 unicast routes exchanged with {WAN6} change", grade="possible", kind="routes")
    assert not judged(told(spoken), fewer).is_wrong


def test_what_was_certain_and_did_not_come() -> None:
    text = "All IPv6 packets received on lan0, except neighbor discovery, are dropped: access list"
    certain = told(finding(text, "/interfaces/lan0/acl_in"))
    assert judged(certain, Measured(before=FLOWS)).alarms == [text]
    assert judged(certain, Measured()).certain == {text: None}
    verdict = judged(certain, lost(lambda flow: of_lan(flow) and (flow.source == "lan" or flow.both_ways)))
    assert verdict.certain == {text: True} and not verdict.is_wrong


def test_sessions() -> None:
    text = f"The BGP session with {WAN4} closes: words"
    closes = told(finding(text, kind="session"), finding("OSPF on core0 loses the adjacency", kind="session"))
    verdict = judged(closes, Measured(sessions=frozenset({WAN4})))
    assert verdict.certain[text] is True
    assert verdict.alarms == ["OSPF on core0 loses the adjacency"]
    reset = judged(told(impacts=("resets ospf",)), Measured(sessions=frozenset({CORE})))
    assert not reset.is_wrong and reset.steps == {"resets ospf": True}


def test_rules_behind_a_denier_count_by_what_those_before_it_permit() -> None:
    rules = {"10": {"action": "permit", "protocol": "udp"}, "20": {"action": "deny"}}
    document = {"acls": {"a": {"rules": rules}}, "interfaces": {"lan0": {"acl_in": ["a"]}}}
    text = "On lan0, rule 20 of a denies every IPv4 packet: the 1 IPv4 rule after it is never reached."
    certain = told(finding(text, "/acls/a/rules/20"), document=document)

    def refused(flow: Flow) -> bool:
        comes = flow.source == "lan" or (flow.both_ways and flow.target == "lan")
        return flow.family == "IPv4" and comes and flow.protocol not in ("udp", "forward")

    assert judged(certain, lost(refused)).certain == {text: True}
    assert judged(certain, Measured(before=FLOWS)).alarms == [text]


def test_a_patch_is_taken_back() -> None:
    document = {"a": {"b": 1, "c": {"d": 2}}}
    patch = {"a": {"b": 3, "c": {"e": 4}}, "f": {"g": 5}}
    assert undone(document, patch) == {"a": {"b": 1, "c": {"e": None}}, "f": None}


def test_an_echo_request_has_its_size_and_checksum() -> None:
    flow = Flow("icmp", "IPv4", "lan", "wan", 64)
    body = echo_request(flow, 7, 9)
    assert len(body) == 44
    total = sum(int.from_bytes(body[place : place + 2]) for place in range(0, len(body), 2))
    assert total % 0xFFFF == 0
