"""The effect of access lists on packets, on the kernel. VPP's tests check the same on VPP."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest

from tests.integration.linux.conftest import DOCUMENT, Router, run

pytestmark = pytest.mark.root

DENY_PING = {
    "10": {"action": "deny", "protocol": "icmp", "icmp_type": 8, "source": "10.77.1.2/32"},
    "20": {"action": "permit"},
    "30": {"action": "permit", "family": "ipv6"},
}


def with_lists(lists: dict[str, Any], **bound: dict[str, list[str]]) -> dict[str, Any]:
    """DOCUMENT with these access lists, and bindings such as ``left0={"acl_in": ["a"]}``."""
    document = copy.deepcopy(DOCUMENT)
    document["acls"] = {name: {"rules": copy.deepcopy(rules)} for name, rules in lists.items()}
    for name, binding in bound.items():
        document["interfaces"][name].update(binding)
    return document


def test_a_denied_ping_stops_is_counted_and_returns(router: Router) -> None:
    router.commit(DOCUMENT)
    assert router.ping(router.left, "10.77.2.2")
    router.commit(with_lists({"edge": DENY_PING}, left0={"acl_in": ["edge"]}))
    assert not router.ping(router.left, "10.77.2.2", count=3)
    assert not router.ping(router.left, "10.77.1.1")
    assert router.ping(router.left, "2001:db8:77:2::2")
    assert router.hits("edge")[10] == 5
    router.commit(DOCUMENT)
    assert router.ping(router.left, "10.77.2.2")


def test_nothing_matching_is_dropped_but_neighbour_discovery(router: Router) -> None:
    only_v4 = with_lists({"v4": {"10": {"action": "permit"}}}, left0={"acl_in": ["v4"], "acl_out": ["v4"]})
    router.commit(only_v4)
    run(router.left, "ip", "-6", "neigh", "flush", "all")
    assert router.ping(router.left, "10.77.2.2")
    assert not router.ping(router.left, "2001:db8:77:2::2")
    assert "lladdr" in run(router.left, "ip", "-6", "neigh", "show", "2001:db8:77:1::1").stdout


def test_an_empty_list_denies_everything(router: Router) -> None:
    router.commit(with_lists({"none": {}}, left0={"acl_in": ["none"]}))
    assert not router.ping(router.left, "10.77.2.2")


def test_lists_are_looked_at_in_their_order(router: Router) -> None:
    lists = {"first": {"10": {"action": "permit", "protocol": "icmp"}}, "second": {"10": {"action": "deny"}}}
    router.commit(with_lists(lists, left0={"acl_in": ["first", "second"]}))
    assert router.ping(router.left, "10.77.2.2")
    router.commit(with_lists(lists, left0={"acl_in": ["second", "first"]}))
    assert not router.ping(router.left, "10.77.2.2")


def test_reflected_answers_come_back_and_nothing_else(router: Router) -> None:
    lists = {
        "out": {"10": {"action": "permit_reflect"}, "20": {"action": "permit_reflect", "family": "ipv6"}},
        "in": {"10": {"action": "deny"}},
    }
    router.commit(with_lists(lists, right0={"acl_in": ["in"], "acl_out": ["out"]}))
    assert router.ping(router.left, "10.77.2.2")
    assert router.ping(router.left, "2001:db8:77:2::2")
    assert not router.ping(router.right, "10.77.1.2")


def test_lists_apply_to_what_the_router_itself_sends(router: Router) -> None:
    router.commit(with_lists({"out": {"10": {"action": "deny"}}}, right0={"acl_out": ["out"]}))
    assert not router.ping(router.middle, "10.77.2.2")
    assert router.ping(router.middle, "10.77.1.2")


def test_hits_of_other_rules_stay_when_one_changes(router: Router) -> None:
    document = with_lists({"edge": DENY_PING}, left0={"acl_in": ["edge"]})
    router.commit(document)
    router.ping(router.left, "10.77.2.2", count=3)
    document["acls"]["edge"]["rules"]["15"] = {"action": "deny", "protocol": "gre"}
    document["acls"]["edge"]["rules"]["25"] = {"action": "deny", "protocol": "udp"}
    router.commit(document)
    assert router.hits("edge") == {10: 3, 15: 0, 20: 0, 25: 0, 30: router.hits("edge")[30]}
    assert [rule.sequence for rule in router.backend.acl_state()[0].rules] == [10, 15, 20, 25, 30]


RULES: dict[str, dict[str, Any]] = {
    "1": {"action": "permit", "protocol": "tcp", "tcp_flags": {"set": ["syn"], "unset": ["ack"]}},
    "2": {"action": "deny", "protocol": "tcp", "tcp_flags": {"unset": ["syn"]}},
    "3": {
        "action": "deny",
        "protocol": "tcp",
        "tcp_flags": {"set": ["syn", "fin", "urg", "psh", "rst", "ack"]},
    },
    "4": {"action": "permit", "protocol": "udp", "source_ports": "0-65535", "destination_ports": 0},
    "5": {"action": "permit", "source": "0.0.0.0/0", "destination": "10.1.2.3/32"},
    "6": {"action": "permit", "family": "ipv6", "source": "::/0", "destination": "2001:db8::/33"},
    "7": {"action": "permit_reflect", "family": "ipv6", "protocol": "icmpv6", "icmp_type": 255},
    "8": {"action": "deny", "protocol": "icmp", "icmp_type": 3, "icmp_code": 4},
    "9": {"action": "deny", "protocol": "icmp"},
    "10": {"action": "deny", "family": "ipv6", "protocol": "icmpv6"},
    "11": {"action": "deny", "protocol": "ospf"},
    "12": {"action": "deny", "family": "ipv6", "protocol": 255},
    "13": {"action": "deny", "protocol": "sctp", "source": "128.0.0.0/1"},
    "14": {"action": "deny", "family": "ipv6", "protocol": "tcp", "source_ports": "1-2"},
    "15": {"action": "permit_reflect"},
    "65535": {"action": "deny", "family": "ipv6"},
}


def test_every_kind_of_rule_reads_back_as_itself(router: Router) -> None:
    router.commit(with_lists({"all": RULES}, left0={"acl_in": ["all"]}))
    for sequence, rule in RULES.items():
        router.commit(with_lists({"all": {sequence: rule}}, left0={"acl_out": ["all"]}))


@pytest.mark.parametrize(
    "command",
    [
        ["nft", "flush", "ruleset"],
        ["nft", "flush", "chain", "inet", "millrace", "acl-edge"],
        ["nft", "insert", "rule", "inet", "millrace", "acl-edge", "accept"],
        ["nft", "insert", "rule", "inet", "millrace", "in-left0", "accept"],
        ["nft", "flush", "chain", "inet", "millrace", "ingress"],
        ["nft", "flush", "chain", "inet", "millrace", "fragments"],
        ["nft", "insert", "rule", "inet", "millrace", "fragments", "return"],
        ["nft", "flush", "map", "inet", "millrace", "in-by-interface"],
    ],
    ids=" ".join,
)
def test_rules_that_somebody_else_changed_are_put_right(router: Router, command: list[str]) -> None:
    document = with_lists({"edge": DENY_PING}, left0={"acl_in": ["edge"]})
    router.commit(document)
    run(router.middle, *command)
    assert router.steps(document) != []
    router.commit(document)
    assert not router.ping(router.left, "10.77.2.2")


def test_a_thousand_rules_are_read_and_changed_quickly(router: Router) -> None:
    rules: dict[str, dict[str, Any]] = {
        str(number): {"action": "permit", "source": f"10.{number // 256}.{number % 256}.0/24"}
        for number in range(1, 1025)
    }
    document = with_lists({"big": rules}, left0={"acl_in": ["big"]})
    router.commit(document)
    rules["512"]["action"] = "deny"
    started = time.monotonic()
    assert [
        step.summary for step in router.commit(with_lists({"big": rules}, left0={"acl_in": ["big"]}))
    ] == ["change access list big: rules 512"]
    # A bound that shows that something broke, not a benchmark: those are in tests/bench.
    assert time.monotonic() - started < 5
