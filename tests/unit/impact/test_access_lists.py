"""The effect of bound lists on families, on the rules behind others, and on the router's own packets."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.features.acl.evaluate import Rules
from appliance.features.acl.model import Acl, AclRule
from appliance.features.bgp.sessions import SESSIONS
from appliance.impact.needed import Packet
from appliance.state.bgp import BgpState
from tests.unit.impact.changes import PEER, found, kinds, session

ANY4, ANY6 = {"action": "permit"}, {"action": "permit", "family": "ipv6"}
DENY_ICMP = {"action": "deny", "protocol": "icmp"}


def _bind(interface: str, rules: dict[str, Any], way: str = "acl_in") -> dict[str, Any]:
    return {"acls": {"new": {"rules": rules}}, "interfaces": {interface: {way: ["new"]}}}


def _patch(rules: dict[str, Any]) -> dict[str, Any]:
    return {"acls": {"new": {"rules": rules}}}


def test_a_list_that_permits_both_families_drops_nothing() -> None:
    assert found(_bind("lan0", {"10": ANY4, "20": ANY6})) == []


@pytest.mark.parametrize("way", ["acl_in", "acl_out"])
def test_a_family_without_a_rule_is_dropped(way: str) -> None:
    (dropped, denied) = found(_bind("lan0", {"10": DENY_ICMP, "20": ANY4}, way))
    assert kinds([dropped]) == [("certain", "traffic", f"/interfaces/lan0/{way}")]
    assert "All IPv6 packets" in dropped.text and "no rule is for IPv6" in dropped.text
    assert dropped.evidence == "lan0 has 2001:db8:10::1/64"
    assert denied.grade == "possible"


def test_where_the_router_has_no_address_of_the_family_it_is_possible() -> None:
    (dropped,) = found(_bind("wan0", {"10": ANY4}))
    assert dropped.grade == "possible"
    assert dropped.depends_on == "there are such packets: wan0 has no IPv6 address"


def test_what_was_dropped_before_is_no_news() -> None:
    first = _bind("lan0", {"10": ANY4})
    assert found(_patch({"20": {"action": "permit", "protocol": "tcp"}}), first=first) == []
    assert found(_patch({"10": {**ANY4, "description": "words"}}), first=first) == []


def test_deny_any_before_everything_and_in_the_middle() -> None:
    first = _bind("lan0", {"10": ANY4, "20": ANY6})
    (all_of_it,) = found(_patch({"5": {"action": "deny"}}), first=first)
    assert all_of_it.grade == "certain" and "every rule that is reached denies IPv4" in all_of_it.text
    rules = {"3": {"action": "permit", "protocol": "tcp"}, "5": {"action": "deny"}}
    shadow, part = found(_patch(rules), first=first)
    assert kinds([shadow]) == [("certain", "traffic", "/acls/new/rules/5")]
    assert shadow.text == (
        "On lan0, rule 5 of new denies every IPv4 packet: the 1 IPv4 rule after it is never reached."
    )
    assert part.text == "Of the IPv4 packets received on lan0, those that rule 5 of new denies are dropped."


def test_only_wider_rules_drop_nothing_and_narrower_ones_may() -> None:
    first = _bind("lan0", {"10": DENY_ICMP, "20": ANY4, "30": ANY6})
    assert found(_patch({"5": {"action": "permit", "protocol": "icmp", "icmp_type": 8}}), first=first) == []
    assert found(_patch({"10": None}), first=first) == []
    (narrower,) = found(_patch({"15": {"action": "deny", "protocol": "udp"}}), first=first)
    assert narrower.text.endswith("those that rules 10, 15 of new deny are dropped.")
    (no_any,) = found(_patch({"20": {**ANY4, "protocol": "tcp"}}), first=first)
    which = "those that rule 10 of new denies and those that no rule permits"
    assert no_any.text.endswith(f"{which} are dropped.")


def test_the_sessions_of_the_router_s_own() -> None:
    only_ping = {"10": {"action": "permit", "protocol": "icmp"}, "20": ANY6}
    sessions = [one for one in found(_bind("wan0", only_ping)) if one.kind == "session"]
    assert kinds(sessions) == [("certain", "session", "/interfaces/wan0/acl_in")]
    assert "because no rule permits it" in sessions[0].text
    one_way = {"10": {"action": "permit", "protocol": "tcp", "destination_ports": "179"}, "20": ANY6}
    (half,) = [one for one in found(_bind("wan0", one_way)) if one.kind == "session"]
    assert (half.grade, half.depends_on) == (
        "possible",
        "it was set up from the end whose packets are refused",
    )
    core = [one for one in found(_bind("core0", only_ping, "acl_out")) if one.kind == "session"]
    assert [one.text.split(" loses")[0] for one in core] == [
        "The BGP session with 10.20.0.2",
        "OSPF on core0",
    ]


def test_an_adjacency_outlives_a_list_that_refuses_only_its_unicast() -> None:
    refused = {"10": {"action": "permit", "protocol": "icmp"}, "20": ANY6}
    (ospf,) = [one for one in found(_bind("core0", refused)) if one.text.startswith("OSPF")]
    assert ospf.grade == "possible"
    assert ospf.depends_on.startswith("the adjacency has to be formed again")


def test_answers_that_are_let_back_in_leave_it_open() -> None:
    rules = {"10": {"action": "permit_reflect", "protocol": "tcp", "destination_ports": "80"}, "20": ANY6}
    (session,) = [one for one in found(_bind("wan0", rules)) if one.kind == "session"]
    assert (session.grade, session.depends_on) == ("possible", "no permit_reflect lets these packets back in")


def test_bfd_and_a_new_neighbor_behind_a_list_that_stands() -> None:
    first = _bind("wan0", {"10": {"action": "permit", "protocol": "tcp"}, "20": ANY6})
    watched = {
        "routing": {
            "bfd": {"profiles": {"fast": {}}},
            "bgp": {"neighbors": {"192.0.2.1": {"bfd_profile": "fast"}}},
        }
    }
    (finding,) = [one for one in found(watched, first=first) if "BFD" in one.text]
    assert (finding.grade, finding.kind) == ("certain", "session")


def test_neighbour_discovery_always_passes_and_received_multicast_too() -> None:
    from ipaddress import ip_address

    none = Rules((), {})
    host, router = ip_address("2001:db8::2"), ip_address("2001:db8::1")
    assert none.verdict(Packet(host, router, 58, icmp_type=135), "in").passes
    assert not none.verdict(Packet(host, router, 58, icmp_type=128), "in").passes
    to_all = Packet(ip_address("10.0.0.2"), ip_address("224.0.0.5"), 89)
    assert none.verdict(to_all, "in").passes
    assert not none.verdict(to_all, "out").passes


def test_lists_are_looked_at_in_the_order_in_which_they_are_bound() -> None:
    acls = {
        "a": Acl(rules={20: AclRule(action="deny"), 10: AclRule(action="permit", protocol="udp")}),
        "b": Acl(rules={5: AclRule(action="permit")}),
    }
    from ipaddress import ip_address

    one, two = ip_address("10.0.0.1"), ip_address("10.0.0.2")
    assert Rules(("a", "b"), acls).verdict(Packet(one, two, 6), "in").reason == "by rule 20 of a"
    assert Rules(("b", "a"), acls).verdict(Packet(one, two, 6), "in").passes
    assert Rules(("a",), acls).verdict(Packet(one, two, 17), "in").passes


def test_a_session_that_a_list_kept_down_may_come_up() -> None:
    """Calibration on VPP, seed 20261123, round 208: routes of the neighbor moved, and nothing was said."""
    first = _bind("wan0", {"10": {"action": "permit", "protocol": "udp"}, "20": ANY6})
    gone = {"acls": None, "interfaces": {"wan0": {"acl_in": None}}}
    down = {SESSIONS: BgpState(neighbors={PEER: session("Active")})}
    (finding,) = found(gone, first=first, facts=down)
    assert kinds([finding]) == [("possible", "routes", "/interfaces/wan0/acl_in")]
    assert finding.text.startswith("The BGP session with 192.0.2.1 may come up: wan0 no longer drops")
    # It outlasted the list, or is still refused on its way out.
    assert found(gone, first=first) == []
    out = {"interfaces": {"wan0": {"acl_in": None, "acl_out": ["new"]}}}
    assert not [one for one in found(out, first=first, facts=down) if one.kind == "routes"]


REFLECT = {"action": "permit_reflect"}
FIREWALL: dict[str, Any] = {
    "acls": {
        "out": {"rules": {"10": REFLECT, "20": {**REFLECT, "family": "ipv6"}}},
        "in": {"rules": {"10": {"action": "permit", "protocol": "icmp"}}},
        "open": {"rules": {"10": ANY4, "20": ANY6}},
    },
    "interfaces": {
        "wan0": {
            "addresses": ["192.0.2.2/30", "2001:db8:2::2/64"],
            "acl_out": ["out"],
            "acl_in": ["in"],
        }
    },
}


@pytest.mark.parametrize(
    "patch",
    [
        {"acls": {"out": {"rules": {"10": ANY4, "20": ANY6}}}},
        {"interfaces": {"wan0": {"acl_out": None}}},
        {"interfaces": {"wan0": {"acl_out": ["open"]}}},
    ],
)
def test_answers_that_a_rule_no_longer_lets_back_in_are_dropped(patch: dict[str, Any]) -> None:
    """Every packet out still passes; the list for what comes in is as it was."""
    ipv6, ipv4 = [one for one in found(patch, first=FIREWALL) if one.kind == "traffic"]
    assert kinds([ipv6, ipv4]) == [
        ("certain", "traffic", "/interfaces/wan0/acl_out"),
        ("possible", "traffic", "/interfaces/wan0/acl_out"),
    ]
    assert ipv6.text == (
        "Answers to IPv6 packets sent on wan0 are dropped on their way in: the permit_reflect of rule 20 of "
        "out no longer lets them pass."
    )
    assert "on their way in, where in does not permit them: the permit_reflect of rule 10" in ipv4.text


def test_a_session_that_lives_by_answers_let_back_in_is_named_when_they_are_not() -> None:
    (closed,) = [
        one
        for one in found({"interfaces": {"wan0": {"acl_out": ["open"]}}}, first=FIREWALL)
        if one.kind == "session"
    ]
    assert closed.grade == "certain", "it is up, and no rule for what comes in ever permitted it"
    assert closed.text.startswith("The BGP session with 192.0.2.1 loses packets it needs: wan0 drops them")


def test_answers_pass_where_the_other_list_permits_them_or_another_rule_reflects_them() -> None:
    moved = {"acls": {"out": {"rules": {"10": None, "15": {**REFLECT, "description": "moved"}}}}}
    assert found(moved, first=FIREWALL) == []
    both = {"acls": {"out": {"rules": {"10": ANY4, "20": ANY6}}}, "interfaces": {"wan0": {"acl_in": None}}}
    assert found(both, first=FIREWALL) == []


def test_what_drops_a_family_says_that_answers_pass_where_they_do() -> None:
    unbound = {**FIREWALL, "interfaces": {"wan0": {**FIREWALL["interfaces"]["wan0"], "acl_in": None}}}
    (ipv6, *_) = found({"interfaces": {"wan0": {"acl_in": ["in"]}}}, first=unbound)
    assert ipv6.text.startswith(
        "All IPv6 packets received on wan0, except neighbor discovery and answers that a permit_reflect lets "
        "pass, are dropped"
    )
