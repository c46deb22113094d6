"""Which sessions a change of NAT ends, and how many there are."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from appliance.config.load import parse_document
from appliance.features.nat.impact import SESSIONS, begun, ended, left, limited
from appliance.impact.change import Change
from appliance.impact.facts import Fact, ToldFacts
from appliance.impact.result import Finding
from appliance.state.nat import NatSession

DOCUMENT: dict[str, Any] = {
    "interfaces": {
        "lan0": {"type": "ethernet", "match": {"device": "l"}, "addresses": ["10.0.0.1/24"]},
        "wan0": {"type": "ethernet", "match": {"device": "w"}, "addresses": ["192.0.2.2/24"]},
    },
    "nat": {
        "inside": ["lan0"],
        "outside": ["wan0"],
        "masquerade": ["wan0"],
        "static": {"host": {"outside_address": "192.0.2.9", "inside_address": "10.0.0.9"}},
        "port_forwards": {
            "web": {"outside_interface": "wan0", "outside_port": 80, "inside_address": "10.0.0.8"},
            "ssh": {"outside_interface": "wan0", "outside_port": 2222, "inside_address": "10.0.0.8"},
        },
    },
}


def session(direction: Any, outside: str, port: int) -> NatSession:
    return NatSession(
        protocol="tcp",
        inside_address="10.0.0.8",
        inside_port=1234,
        outside_address=outside,
        outside_port=port,
        remote_address="198.51.100.1",
        remote_port=443,
        direction=direction,
        expires_s=10,
    )


NOW = (
    session("out", "192.0.2.2", 40000),
    session("out", "192.0.2.2", 80),
    session("in", "192.0.2.2", 80),
    session("in", "192.0.2.9", 22),
    session("out", "192.0.2.9", 40000),
)


def found(change: dict[str, Any] | None, known: Any = NOW) -> list[tuple[str, str, str]]:
    after = copy.deepcopy(DOCUMENT)
    if change is None:
        del after["nat"]
    else:
        after["nat"] |= change
    return found_between(DOCUMENT, after, known)


def found_between(
    before: dict[str, Any], after: dict[str, Any], known: Any = NOW
) -> list[tuple[str, str, str]]:
    facts = ToldFacts({SESSIONS: known})
    return [
        (one.grade, one.path, one.evidence)
        for one in ended(Change(parse_document(before), parse_document(after), facts))
    ]


@pytest.mark.parametrize(
    ("change", "findings"),
    [
        ({"timeouts": {"udp_s": 60}}, []),
        (None, [("certain", "/nat", "5 sessions now")]),
        (
            {"sessions_per_worker": 1000, "static": {}},
            [("certain", "/nat/sessions_per_worker", "5 sessions now")],
        ),
        ({"static": {}}, [("certain", "/nat/static/host", "2 sessions now")]),
        (
            {"static": {"other": DOCUMENT["nat"]["static"]["host"]}},
            [],
        ),
        ({"port_forwards": {}}, [("certain", "/nat/port_forwards/web", "1 session now")]),
        (
            {"masquerade": [], "pools": {"p": {"addresses": ["192.0.2.10"]}}},
            [("certain", "/nat/masquerade", "2 sessions now")],
        ),
    ],
)
def test_sessions_are_counted(change: dict[str, Any] | None, findings: list[tuple[str, str, str]]) -> None:
    assert found(change) == findings


def test_too_many_to_count_are_possible() -> None:
    assert found({"port_forwards": {}}, None) == [
        ("possible", "/nat/port_forwards/web", ""),
        ("possible", "/nat/port_forwards/ssh", ""),
    ]


def test_another_address_of_the_interface_ends_what_has_the_old_one() -> None:
    """The settings of NAT stay as they are."""
    after = copy.deepcopy(DOCUMENT)
    after["interfaces"]["wan0"]["addresses"] = ["192.0.2.3/24"]
    assert found_between(DOCUMENT, after) == [
        ("certain", "/nat/port_forwards/web", "1 session now"),
        ("certain", "/interfaces/wan0/addresses", "2 sessions now"),
    ]


def test_masquerade_and_pools_are_told_apart() -> None:
    """Where there are both, a finding names the one that each address came from."""
    before = copy.deepcopy(DOCUMENT)
    before["interfaces"]["wan1"] = {"type": "ethernet", "match": {"device": "x"}}
    before["nat"]["outside"] = ["wan0", "wan1"]
    before["nat"]["pools"] = {"p": {"addresses": ["198.51.100.8", "198.51.100.9"]}}
    known = (*NOW, session("out", "198.51.100.9", 40001))
    for gone, findings in (
        ({"masquerade": []}, [("certain", "/nat/masquerade", "2 sessions now")]),
        (
            {"pools": {"p": {"addresses": ["198.51.100.8"]}}},
            [("certain", "/nat/pools", "1 session now")],
        ),
    ):
        after = copy.deepcopy(before)
        after["nat"] |= gone
        assert found_between(before, after, known) == findings


def test_sessions_from_inside_to_an_outside_address_count_with_the_mapping_they_ask_for() -> None:
    asks = {"remote_address": "192.0.2.2", "remote_port": 80}
    hairpin = session("hairpin", "192.0.2.2", 41000).model_copy(update=asks)
    assert found({"port_forwards": {}}, (*NOW, hairpin)) == [
        ("certain", "/nat/port_forwards/web", "2 sessions now")
    ]
    to_host = hairpin.model_copy(update={"remote_address": "192.0.2.9"})
    assert found({"static": {}}, (*NOW, to_host)) == [("certain", "/nat/static/host", "3 sessions now")]


def test_sessions_are_not_read_for_what_ends_none() -> None:
    after = copy.deepcopy(DOCUMENT)
    after["nat"]["timeouts"] = {"udp_s": 60}
    assert list(ended(Change(parse_document(DOCUMENT), parse_document(after), _Unread()))) == []


class _Unread:
    untold: Mapping[str, str] = MappingProxyType({})

    def in_vrf(self, vrf: str) -> _Unread:
        assert not vrf
        return self

    def of(self, fact: Fact[Any]) -> Any:
        raise AssertionError(f"{fact.name} were read")


def begins(before: Any, after: Any, driver: str | None = None) -> list[tuple[str, str]]:
    documents = [copy.deepcopy(DOCUMENT) for _ in range(2)]
    for document, nat in zip(documents, (before, after), strict=True):
        document["nat"] = nat
        document["dataplane"] = {"driver": driver} if driver else {}
    earlier, later = map(parse_document, documents)
    change = Change(earlier, later, ToldFacts({}))
    return [(one.grade, one.path) for one in begun(change)]


def test_nat_that_begins_breaks_what_stands_and_on_vpp_refuses_what_comes_unasked() -> None:
    """Found by the calibration campaign: nothing was said, and connections from inside were reset."""
    nat = DOCUMENT["nat"]
    assert begins(None, nat, "linux") == [("possible", "/nat")]
    assert begins(None, nat, "vpp") == [("possible", "/nat"), ("possible", "/nat/outside")]
    assert begins(None, nat) == [("possible", "/nat"), ("possible", "/nat/outside")]
    assert begins(nat, {**nat, "port_forwards": {}}, "vpp") == []
    assert begins(nat, None, "vpp") == []


def test_rules_that_decide_what_is_translated_break_what_stands() -> None:
    rules = {"10": {"source": "10.0.0.0/24"}}
    assert begins(DOCUMENT["nat"], {**DOCUMENT["nat"], "no_nat": rules}) == [("possible", "/nat/no_nat")]


def _told(find: Any, before: dict[str, Any], after: dict[str, Any], known: Any = NOW) -> list[Finding]:
    change = Change(parse_document(before), parse_document(after), ToldFacts({SESSIONS: known}))
    return list(find(change))


def _nat(**settings: Any) -> dict[str, Any]:
    return {**copy.deepcopy(DOCUMENT), "nat": {**DOCUMENT["nat"], **settings}}


TWO = _nat(inside=["lan0", "lan1"], outside=["wan0", "wan1"], masquerade=["wan0", "wan1"])
for name, network in (("lan1", "10.0.1.1/24"), ("wan1", "203.0.113.2/24")):
    TWO["interfaces"][name] = {"type": "ethernet", "match": {"device": name}, "addresses": [network]}


@pytest.mark.parametrize(
    ("nat", "path", "words"),
    [
        ({"inside": ["lan0"]}, "/nat/inside", "from lan1 to wan0, wan1 are"),
        ({"outside": ["wan0"], "masquerade": ["wan0"]}, "/nat/outside", "from lan0, lan1 to wan1 are"),
        (None, "/nat", "from lan0, lan1 to wan0, wan1 are"),
    ],
)
def test_what_leaves_nat_keeps_its_address(nat: dict[str, Any] | None, path: str, words: str) -> None:
    """Existing sessions may continue, and there may be none; only new ones get no answer."""
    after = copy.deepcopy(TWO)
    after["nat"] = None if nat is None else {**TWO["nat"], **nat}
    (finding,) = _told(left, TWO, after, known=())
    assert (finding.grade, finding.kind, finding.path) == ("possible", "traffic", path)
    assert words in finding.text
    after["interfaces"]["lan0"]["enabled"] = after["interfaces"]["lan1"]["enabled"] = False
    after["interfaces"]["wan1"]["enabled"] = False
    assert _told(left, TWO, after, known=()) == [], "nothing passes what is down"


def test_a_limit_of_sessions_refuses_the_next_ones_of_hosts_that_are_at_it() -> None:
    (finding,) = _told(limited, DOCUMENT, _nat(sessions_per_user=3))
    assert (finding.grade, finding.path) == ("certain", "/nat/sessions_per_user")
    assert finding.text.startswith("Inside host 10.0.0.8 cannot open another session")
    assert finding.evidence == "10.0.0.8 has 3 sessions now", "those from outside do not count"
    (later,) = _told(limited, _nat(sessions_per_user=9), _nat(sessions_per_user=4))
    assert (later.grade, later.depends_on) == ("possible", "a host has that many")
    (unknown,) = _told(limited, DOCUMENT, _nat(sessions_per_user=3), known=None)
    assert unknown.depends_on == "a host has that many: they were not counted"
    assert _told(limited, _nat(sessions_per_user=3), _nat(sessions_per_user=4)) == []


def test_shorter_timeouts_forget_connections_that_are_silent() -> None:
    (finding,) = _told(limited, DOCUMENT, _nat(timeouts={"udp_s": 60, "icmp_s": 90}))
    assert (finding.grade, finding.path) == ("possible", "/nat/timeouts")
    assert finding.text.endswith("after a shorter idle time: UDP 60 s instead of 300 s.")
