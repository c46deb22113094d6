"""A policy's verdict on one route, known entirely or in part, in a time that no hostile text can lengthen.

Compared with bgpd itself in tests/integration/frr/test_policy_verdicts.py.
"""

from __future__ import annotations

import random
import re
import warnings
from ipaddress import ip_network
from typing import Any

import pytest

from frr_config.protocols.policy.as_path_regex import AsPathRegex
from frr_config.protocols.policy.evaluate import Evaluator, Facts, Outcome, TooLong
from frr_config.protocols.policy.model import Policy

PREFIX = ip_network("203.0.113.0/24")
WHOLE = Facts(PREFIX, "65001 64512", frozenset({"65001:100", "65535:666"}), 50)


def _said(
    policy: dict[str, Any], facts: Facts = WHOLE, prefix_list: str | None = None
) -> tuple[Outcome, ...]:
    route_map = "m" if "route_maps" in policy else None
    return Evaluator(Policy.model_validate(policy)).outcomes(prefix_list, route_map, facts)


def _map(**rules: dict[str, Any]) -> dict[str, Any]:
    return {"m": {"rules": {name.removeprefix("r"): rule for name, rule in rules.items()}}}


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ({"prefix": "203.0.113.0/24"}, True),
        ({"prefix": "203.0.0.0/16"}, False),
        ({"prefix": "203.0.0.0/16", "le": 24}, True),
        ({"prefix": "203.0.0.0/16", "le": 23}, False),
        ({"prefix": "203.0.0.0/16", "ge": 24}, True),
        ({"prefix": "203.0.0.0/16", "ge": 25}, False),
        ({"prefix": "203.0.0.0/16", "ge": 20, "le": 24}, True),
        ({"prefix": "0.0.0.0/0", "le": 32}, True),
        ({"prefix": "203.0.113.128/25"}, False),
    ],
)
def test_a_prefix_list_names_its_rule(rule: dict[str, Any], holds: bool) -> None:
    policy = {"prefix_lists": {"p": {"rules": {"7": {"action": "permit", **rule}}}}}
    (outcome,) = _said(policy, prefix_list="p")
    expected = "prefix list p, rule 7" if holds else "prefix list p, where no rule matches"
    assert (outcome.permits, outcome.rule) == (holds, expected)


def test_the_first_rule_by_sequence_decides_and_families_differ() -> None:
    rules = {
        "20": {"action": "permit", "prefix": "203.0.113.0/24"},
        "10": {"action": "deny", "prefix": "0.0.0.0/0", "le": 32},
    }
    policy = {"prefix_lists": {"p": {"rules": rules}, "six": {"family": "ipv6", "rules": {}}}}
    (outcome,) = _said(policy, prefix_list="p")
    assert (outcome.permits, outcome.rule) == (False, "prefix list p, rule 10")
    (outcome,) = _said(policy, prefix_list="six")
    assert not outcome.permits


def test_later_rules_see_what_earlier_ones_set() -> None:
    policy = {
        "community_lists": {"c": {"rules": {"5": {"action": "permit", "communities": ["65000:1"]}}}},
        "route_maps": _map(
            r10={"action": "permit", "set": {"communities": ["65000:1"]}, "on_match_next": True},
            r20={"action": "permit", "match": {"community_list": "c"}, "set": {"local_preference": 70}},
        ),
    }
    (outcome,) = _said(policy)
    assert (outcome.permits, outcome.rule) == (True, "route map m, rule 20")
    assert outcome.changes == ("local preference 70", "communities 65000:1")


def test_a_rule_that_does_not_match_takes_back_what_one_that_goes_on_has_permitted() -> None:
    """As bgpd does; see the comparison with it."""
    goes_on = {"action": "permit", "on_match_next": True}
    (outcome,) = _said({"route_maps": _map(r10=goes_on)})
    assert (outcome.permits, outcome.rule) == (True, "route map m, rule 10")
    for action in ("permit", "deny"):
        later = {"action": action, "match": {"metric": 77}}
        (outcome,) = _said({"route_maps": _map(r10=goes_on, r20=later)})
        assert (outcome.permits, outcome.rule) == (False, "route map m, where no rule matches")


def test_a_called_map_that_denies_ends_it() -> None:
    policy = {
        "route_maps": {
            **_map(r10={"action": "permit", "call": "n"}, r20={"action": "permit"}),
            "n": {"rules": {"5": {"action": "deny"}}},
        }
    }
    (outcome,) = _said(policy)
    assert (outcome.permits, outcome.rule) == (False, "route map m, rule 10, which calls route map n, rule 5")


def test_what_is_not_known_leaves_both_ways_open() -> None:
    policy = {
        "community_lists": {"c": {"rules": {"5": {"action": "permit", "communities": ["blackhole"]}}}},
        "route_maps": _map(
            r10={"action": "deny", "match": {"community_list": "c"}}, r20={"action": "permit"}
        ),
    }
    (outcome,) = _said(policy)
    assert (outcome.permits, outcome.rule) == (False, "route map m, rule 10")
    both = _said(policy, Facts(PREFIX))
    assert {(one.permits, one.rule) for one in both} == {
        (False, "route map m, rule 10"),
        (True, "route map m, rule 20"),
    }
    assert all("community list c" in what for one in both for what in one.assumes)


def test_what_a_map_can_set_is_found_in_those_it_calls() -> None:
    policy = Policy.model_validate(
        {
            "route_maps": {
                "a": {"rules": {"5": {"action": "permit", "call": "b"}}},
                "b": {"rules": {"5": {"action": "permit", "set": {"metric": 5, "as_path_prepend": [1]}}}},
            }
        }
    )
    assert Evaluator(policy).may_set("a") == {"metric", "as_path"}
    assert Evaluator(policy).may_set(None) == frozenset()


def test_a_policy_of_many_steps_is_left_rather_than_waited_for() -> None:
    rules = {str(at): {"action": "permit", "match": {"metric": at + 100}} for at in range(1, 30_000)}
    with pytest.raises(TooLong):
        _said({"route_maps": {"m": {"rules": rules}}})
    doubling = {
        str(at): {"action": "permit", "match": {"metric": at}, "on_match_next": True} for at in range(1, 60)
    }
    with pytest.raises(TooLong):
        _said({"route_maps": {"m": {"rules": doubling}}}, Facts(PREFIX))


def test_a_long_prefix_list_is_looked_up_and_not_walked() -> None:
    rules = {
        str(at + 1): {"action": "deny", "prefix": f"{10 + (at >> 16)}.{at >> 8 & 255}.{at & 255}.0/24"}
        for at in range(60_000)
    }
    evaluator = Evaluator(Policy.model_validate({"prefix_lists": {"p": {"rules": rules}}}))
    found = [evaluator.outcomes("p", None, Facts(ip_network(f"10.{at}.7.0/24"))) for at in range(200)]
    assert [one.rule for (one,) in found][:2] == ["prefix list p, rule 8", "prefix list p, rule 264"]


def test_as_path_expressions_match_as_regular_expressions_do() -> None:
    rng = random.Random(3)
    compared = 0
    while compared < 1500:
        text = "".join(rng.choice("0123_^$.*+?()|[]-") for _ in range(rng.randint(1, 8)))
        try:
            with warnings.catch_warnings(action="ignore"):
                python = re.compile(text.replace("_", "(?:[,{}() ]|^|$)"))
            ours = AsPathRegex(text)
        except (re.error, ValueError):
            continue
        for _ in range(5):
            path = " ".join(str(rng.choice((1, 2, 3, 12, 21, 0))) for _ in range(rng.randint(0, 4)))
            path += rng.choice(("", " {1,2}"))
            assert ours.matches(path) == bool(python.search(path)), (text, path)
            compared += 1


@pytest.mark.parametrize("text", ["^(1+)+$", "(1|1)*2", ".*1.*1.*1.*1.*1.*2"])
def test_no_path_makes_an_expression_slow(text: str) -> None:
    """Steps, not seconds: a backtracking matcher would need an unbearable time for these."""
    expression = AsPathRegex(text)
    assert not expression.matches("1" * 4000 + "3")
    assert len(expression._moves) < 500


def test_a_class_that_is_not_known_is_refused() -> None:
    for text in ("[_]", "[[1]", "1)", "(1"):
        with pytest.raises(ValueError, match=re.escape(text)):
            AsPathRegex(text)
