"""What is in front of the access lists of an interface: neighbor discovery, and questions to fragments."""

from __future__ import annotations

from typing import Any

import pytest

import vpp_config
from appliance.config.load import parse_document
from appliance.dataplane.linux.ruleset import binding_rules, fragment_rules, skeleton
from appliance.dataplane.wanted import Wanted
from appliance.errors import ValidationFailed
from appliance.features.acl import vpp
from appliance.features.acl.built_in import name_of

DENY_SSH = {"action": "deny", "family": "ipv6", "protocol": "tcp", "destination_ports": 22}
PERMIT = {"action": "permit", "family": "ipv6"}


def _in_vpp(rules: dict[str, Any]) -> dict[str, vpp_config.Acl]:
    lan = {
        "type": "ethernet",
        "match": {"device": "nic0"},
        "addresses": ["10.0.0.1/24", "2001:db8::1/64"],
        "acl_in": ["edge"],
        "acl_out": ["edge"],
    }
    document = {"interfaces": {"lan0": lan}, "acls": {"edge": {"rules": rules}}}
    found = vpp.objects(Wanted(parse_document(document)))
    return {one.name: one for one in found if isinstance(one, vpp_config.Acl)}


def _permits(acl: vpp_config.Acl) -> set[tuple[str, str]]:
    return {(str(one.source), str(one.destination)) for one in acl.rules if one.action == "permit"}


def test_neighbor_discovery_passes_from_and_to_the_router_alone() -> None:
    """VPP takes later fragments of ICMPv6 for it, whoever sends them: they would pass an empty list, too."""
    lists = _in_vpp({})
    inbound, outbound = lists[name_of("lan0", "in")], lists[name_of("lan0", "out")]
    assert _permits(inbound) == {("::/0", "fe80::/10"), ("::/0", "2001:db8::1/128")}
    assert _permits(outbound) == {("fe80::/10", "::/0"), ("::/128", "::/0"), ("2001:db8::1/128", "::/0")}
    for one in (*inbound.rules, *outbound.rules):
        assert (one.protocol, one.icmp_type) == (58, (133, 137))


@pytest.mark.parametrize(
    ("rules", "closed"),
    [
        ({"10": DENY_SSH, "20": PERMIT}, True),
        ({"10": {"action": "deny", "family": "ipv6", "protocol": "udp"}, "20": PERMIT}, True),
        ({"10": {"action": "deny", "protocol": "tcp", "destination_ports": 22}, "20": PERMIT}, False),
        ({"10": PERMIT}, False),
        ({"10": DENY_SSH | {"action": "permit"}}, False),
        ({"10": {"action": "deny", "family": "ipv6", "source": "2001:db8::/32"}, "20": PERMIT}, False),
    ],
)
def test_later_headers_of_ipv6_are_denied_where_a_rule_denies_by_them(
    rules: dict[str, Any], closed: bool
) -> None:
    """Elsewhere nobody pays for it."""
    for way in ("in", "out"):
        first = _in_vpp(rules)[name_of("lan0", way)]
        denied = {one.protocol for one in first.rules if one.action == "deny"}
        assert denied == ({43, 44, 60} if closed else set())


def test_no_document_has_a_list_of_such_a_name() -> None:
    with pytest.raises(ValidationFailed):
        parse_document({"acls": {name_of("lan0", "in"): {"rules": {}}}})


def test_the_kernel_asks_of_fragments_before_any_list() -> None:
    rules = [one["rule"]["expr"][0] for one in binding_rules("in-lan0", ("edge",), True, 1)]
    assert rules.index({"jump": {"target": "fragments"}}) < rules.index({"jump": {"target": "acl-edge"}})
    made = [
        one["add"]["rule"]["comment"] for one in skeleton() if "comment" in one.get("add", {}).get("rule", {})
    ]
    assert made == [one["rule"]["comment"] for one in fragment_rules()]
    assert len(set(made)) == len(made)
