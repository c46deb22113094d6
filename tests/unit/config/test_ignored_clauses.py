"""A clause of a route map that the daemon at the map's place would ignore is refused, at the clause."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.marks import marks_of, walk
from appliance.config.pointer import join
from appliance.config.shape import document as shape
from appliance.config.validate import check
from appliance.errors import Problem
from appliance.features.registry import declared
from frr_config.protocols.policy.clauses import WORDS, Clause, fields, title

EXTERNAL, INTERNAL = "10.0.0.2", "10.0.0.3"
LISTS: dict[str, Any] = {
    "prefix_lists": {
        "v4": {"rules": {"5": {"action": "permit", "prefix": "10.0.0.0/8", "le": 32}}},
        "v6": {"family": "ipv6", "rules": {"5": {"action": "permit", "prefix": "2001:db8::/32", "le": 64}}},
    },
    "as_path_lists": {"paths": {"rules": {"5": {"action": "permit", "regex": "^65001_"}}}},
    "community_lists": {"gold": {"rules": {"5": {"action": "permit", "communities": ["65001:100"]}}}},
}
VALUES: dict[Clause, Any] = {
    Clause("match", "prefix_list"): "v4",
    Clause("match", "ipv6_prefix_list"): "v6",
    Clause("match", "as_path_list"): "paths",
    Clause("match", "community_list"): "gold",
    Clause("match", "interface"): "lo1",
    Clause("match", "metric"): 5,
    Clause("match", "tag"): 7,
    Clause("match", "source_protocol"): "connected",
    Clause("set", "local_preference"): 200,
    Clause("set", "metric"): 9,
    Clause("set", "metric_type"): "type-1",
    Clause("set", "weight"): 5,
    Clause("set", "origin"): "igp",
    Clause("set", "next_hop"): "10.0.0.9",
    Clause("set", "ipv6_next_hop"): "2001:db8::9",
    Clause("set", "tag"): 9,
    Clause("set", "source"): "10.0.0.1",
    Clause("set", "as_path_prepend"): [65000],
    Clause("set", "communities"): ["65001:5"],
    Clause("set", "large_communities"): ["65001:5:5"],
}
WHERE: dict[str, dict[str, Any]] = {
    "in": {"bgp": {"neighbors": {EXTERNAL: {"ipv4_unicast": {"route_map_in": "m"}}}}},
    "out": {"bgp": {"neighbors": {EXTERNAL: {"ipv4_unicast": {"route_map_out": "m"}}}}},
    "out internal": {"bgp": {"neighbors": {INTERNAL: {"ipv4_unicast": {"route_map_out": "m"}}}}},
    "in v6": {"bgp": {"neighbors": {EXTERNAL: {"ipv6_unicast": {"route_map_in": "m"}}}}},
    "into bgp": {"bgp": {"ipv4_unicast": {"redistribute": {"connected": {"route_map": "m"}}}}},
    "into bgp v6": {"bgp": {"ipv6_unicast": {"redistribute": {"static": {"route_map": "m"}}}}},
    "into ospf": {"ospf": {"redistribute": {"bgp": {"route_map": "m"}}}},
    "ospf default": {"ospf": {"default_information": {"always": True, "route_map": "m"}}},
}


def _merged(base: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in patch.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _document(where: dict[str, Any], **maps: Any) -> dict[str, Any]:
    families: dict[str, Any] = {"ipv4_unicast": {}, "ipv6_unicast": {}}
    routing = {
        "policy": {**LISTS, "route_maps": {name: {"rules": rules} for name, rules in maps.items()}},
        "bgp": {
            "asn": 65000,
            "router_id": "10.0.0.1",
            "neighbors": {
                EXTERNAL: {"remote_asn": 65001, "ebgp_multihop": 5, **families},
                INTERNAL: {"remote_asn": 65000, **families},
            },
        },
        "ospf": {"router_id": "10.0.0.1"},
    }
    interfaces = {"lo1": {"type": "loopback", "addresses": ["10.0.0.1/32", "2001:db8::1/128"]}}
    return {"interfaces": interfaces, "routing": _merged(routing, where)}


def _problems(where: dict[str, Any], frr: str = "8.4", **maps: Any) -> list[Problem]:
    return check(parse_document(_document(where, **maps)), Capabilities("linux", frr=frr))


def _rule(*clauses: Clause, **more: Any) -> dict[str, Any]:
    rule: dict[str, Any] = {"action": "permit", **more}
    for clause in clauses:
        rule.setdefault(clause.part, {})[clause.field] = VALUES[clause]
    return rule


def _refused(where: str, frr: str = "8.4") -> set[str]:
    """The clauses that are refused at a place."""
    rules = {str(10 * at): _rule(clause) for at, clause in enumerate(VALUES, 1)}
    found = _problems(WHERE[where], frr, m=rules)
    paths = {join(["routing", "policy", "route_maps", "m", "rules", str(10 * at), *clause]): clause.path
             for at, clause in enumerate(VALUES, 1)}  # fmt: skip
    return {paths[problem.pointer] for problem in found}


_LOCAL = {"set/metric_type", "set/source", "match/source_protocol", "match/interface"}
_OF_OSPF = {
    "match/ipv6_prefix_list", "match/as_path_list", "match/community_list", "match/metric",
    "match/source_protocol", "set/local_preference", "set/weight", "set/origin", "set/next_hop",
    "set/ipv6_next_hop", "set/source", "set/as_path_prepend", "set/communities", "set/large_communities",
}  # fmt: skip


@pytest.mark.parametrize(
    ("where", "refused"),
    [
        ("in", _LOCAL | {"set/ipv6_next_hop"}),
        ("out", _LOCAL | {"set/ipv6_next_hop", "set/weight", "set/tag", "set/local_preference"}),
        ("out internal", _LOCAL | {"set/ipv6_next_hop", "set/weight", "set/tag"}),
        ("in v6", _LOCAL | {"set/next_hop"}),
        ("into bgp", _LOCAL - {"match/interface"} | {"set/ipv6_next_hop"}),
        ("into bgp v6", _LOCAL - {"match/interface"} | {"set/next_hop"}),
        ("into ospf", _OF_OSPF),
        ("ospf default", _OF_OSPF | {"set/metric", "set/metric_type", "set/tag"}),
    ],
)
def test_what_a_daemon_ignores_at_a_place_is_refused(where: str, refused: set[str]) -> None:
    assert _refused(where) == refused


def test_a_later_release_knows_more() -> None:
    assert "match/source_protocol" not in _refused("out", "10.3")
    assert "match/source_protocol" in _refused("in", "10.3"), (
        "it does not tell there where a route was learned"
    )
    assert "match/source_protocol" in _refused("into ospf", "10.3")
    assert _refused("into bgp", "") == _refused("into bgp", "8.4"), "unknown: the oldest that is supported"


def test_the_problem_names_map_rule_clause_user_daemon_and_release() -> None:
    (problem,) = _problems(WHERE["into ospf"], m={"10": _rule(Clause("match", "community_list"))})
    assert problem.pointer == "/routing/policy/route_maps/m/rules/10/match/community_list"
    assert problem.message == (
        "the condition Community list of rule 10 of route map m is ignored for bgp routes redistributed into "
        "OSPF (/routing/ospf/redistribute/bgp/route_map): ospfd of FRR 8.4 does not know it and drops it. "
        "Remove it, or use another route map there"
    )


def test_a_map_that_nobody_uses_may_have_any_clause() -> None:
    rules = {str(10 * at): _rule(clause) for at, clause in enumerate(VALUES, 1)}
    assert _problems({}, m=rules) == []


def test_a_called_map_counts_for_those_who_call_it() -> None:
    inner: Any = {"10": _rule(Clause("match", "as_path_list"))}
    maps: dict[str, Any] = {
        "m": {"10": {"action": "permit", "call": "n"}},
        "n": {"5": {"action": "permit", "call": "o"}},
    }
    (problem,) = _problems(WHERE["into ospf"], **maps, o=inner)
    assert problem.pointer == "/routing/policy/route_maps/o/rules/10/match/as_path_list"
    assert "whose route map m calls this one" in problem.message
    assert _problems(WHERE["in"], **maps, o=inner) == []


def test_a_rule_for_the_other_family_may_have_that_family_s_next_hop() -> None:
    """One map for both families is usual: each rule names a list of its own family."""
    rules = {
        "10": _rule(Clause("match", "prefix_list"), Clause("set", "next_hop")),
        "20": _rule(Clause("match", "ipv6_prefix_list"), Clause("set", "ipv6_next_hop")),
    }
    both = _merged(WHERE["in"], WHERE["in v6"])
    assert _problems(both, m=rules) == []
    (problem,) = _problems(both, m={"10": _rule(Clause("set", "next_hop"))})
    assert "sets it on IPv4 routes only" in problem.message


def test_a_peer_group_s_map_is_judged_by_its_members() -> None:
    group = {"peer_groups": {"g": {"ipv4_unicast": {"route_map_out": "m"}}}}
    rules = {"10": _rule(Clause("set", "local_preference"))}
    assert _problems({"bgp": group}, m=rules) == []

    def of(member: str) -> list[Problem]:
        where = {"bgp": {**group, "neighbors": {member: {"peer_group": "g", "ipv4_unicast": None}}}}
        return _problems(where, m=rules)

    assert of(INTERNAL) == []
    (problem,) = of(EXTERNAL)
    assert "/routing/bgp/peer_groups/g/ipv4_unicast/route_map_out" in problem.message


def test_an_ospf_metric_too_large_for_ospf_is_refused() -> None:
    rule = {"action": "permit", "set": {"metric": 16777215}}
    assert [one.pointer for one in _problems(WHERE["into ospf"], m={"10": rule})] == [
        "/routing/policy/route_maps/m/rules/10/set/metric"
    ]
    assert _problems(WHERE["in"], m={"10": rule}) == []


@pytest.mark.parametrize("more", [{"set": {"metric": 5}}, {"call": "n"}])
def test_a_deny_rule_changes_nothing_and_calls_nothing(more: dict[str, Any]) -> None:
    maps: dict[str, Any] = {"m": {"10": {"action": "deny", **more}}, "n": {"5": {"action": "permit"}}}
    (field,) = more
    (problem,) = _problems({}, **maps)
    assert problem.pointer == f"/routing/policy/route_maps/m/rules/10/{field}"


def test_every_clause_of_the_model_is_in_the_table() -> None:
    assert set(WORDS) == set(fields()) == set(VALUES)
    assert all(title(clause) for clause in fields())


def test_every_place_that_names_a_route_map_says_who_evaluates_it() -> None:
    """A new field that names a route map needs a use in its feature's ``route_maps.py``."""
    family = {"route_map_in": "m", "route_map_out": "m"}
    both = {"ipv4_unicast": family, "ipv6_unicast": family}
    redistribute = {name: {"route_map": "m"} for name in ("connected", "static")}
    imports = {"import_vrfs": ["red"], "import_route_map": "m"}
    document = _document(
        {
            "bgp": {
                "neighbors": {EXTERNAL: both, INTERNAL: {}},
                "peer_groups": {"g": both},
                "ipv4_unicast": {"redistribute": {**redistribute, "ospf": {"route_map": "m"}}, **imports},
                "ipv6_unicast": {"redistribute": redistribute, **imports},
            },
            "ospf": {
                "redistribute": {**redistribute, "bgp": {"route_map": "m"}},
                "default_information": {"route_map": "m"},
            },
        },
        m={"10": {"action": "permit"}},
    )
    config = parse_document({**document, "vrfs": {"red": {"routing": {"bgp": {"asn": 65000}}}}})
    named: set[str] = set()

    def note(place: Any, _value: Any, reference: Any) -> None:
        if reference.to.path == "/routing/policy/route_maps":
            named.add(join(place))

    marks = marks_of(shape(), lambda leaf: leaf.reference, lambda keyed: keyed.key_reference)
    walk(config, marks, note)
    used = {use.pointer for uses in declared("route_maps", "uses") for use in uses(config)}
    assert used == named
