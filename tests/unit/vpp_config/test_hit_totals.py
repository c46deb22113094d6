"""Hits continued over changes of lists, compared with a simple statement of what is continued."""

from __future__ import annotations

from ipaddress import ip_network
from random import Random

from vpp_config import AclRule
from vpp_config.hit_totals import HitTotals, RuleHits

_ANY = ip_network("0.0.0.0/0")
_RULES = [AclRule("deny", _ANY, _ANY, 17, (port, port)) for port in range(6)]
_Identity = tuple[AclRule, int]


def _identities(rules: tuple[AclRule, ...]) -> list[_Identity]:
    return [(rule, rules[:at].count(rule)) for at, rule in enumerate(rules)]


def _again(rule: AclRule) -> AclRule:
    """Equal, and now and then another object."""
    return AclRule(rule.action, rule.source, rule.destination, rule.protocol, rule.source_ports)


def test_a_rule_keeps_its_hits_wherever_it_moves() -> None:
    for seed in range(60):
        random = Random(seed)
        totals = HitTotals()
        rules: tuple[AclRule, ...] = ()
        expected: dict[_Identity, tuple[int, int]] = {}
        counted: list[tuple[int, int]] = []
        for _ in range(12):
            # As a commit does: the counters are read, then the rules replaced, and VPP counts from zero.
            now = tuple(RuleHits(*hits) for hits in counted)
            totals.carry(1, {"a": (7, rules)}, {"a": now})
            made = [random.choice(_RULES) for _ in range(random.randrange(8))]
            if random.random() < 0.5 and rules:
                made = [*rules]
                made[random.randrange(len(made))] = random.choice(_RULES)
            if tuple(made) == rules:
                # Nothing would be replaced.
                continue
            rules = tuple(rule if random.random() < 0.8 else _again(rule) for rule in made)
            names = _identities(rules)
            expected = {name: expected.get(name, (0, 0)) for name in names}
            counted = [(0, 0)] * len(rules)
            for _ in range(random.randrange(3)):
                counted = [
                    (packets + more, octets + 100 * more)
                    for packets, octets in counted
                    for more in [random.choice((0, 0, 3))]
                ]
                got = totals.carry(1, {"a": (7, rules)}, {"a": tuple(RuleHits(*hits) for hits in counted)})
                assert got["a"] == tuple(
                    RuleHits(expected[name][0] + hits[0], expected[name][1] + hits[1])
                    for name, hits in zip(names, counted, strict=True)
                )
            for name, hits in zip(names, counted, strict=True):
                expected[name] = (expected[name][0] + hits[0], expected[name][1] + hits[1])


def test_counters_that_fell_go_on_from_where_they_were() -> None:
    totals, lists = HitTotals(), {"a": (7, (_RULES[0], _RULES[1]))}
    totals.carry(1, lists, {"a": (RuleHits(5, 500), RuleHits(0, 0))})
    # VPP restarted: its counters start from zero.
    assert totals.carry(2, lists, {"a": (RuleHits(9, 900), RuleHits(1, 9))})["a"][0] == RuleHits(14, 1400)
    assert totals.carry(2, lists, {"a": (RuleHits(2, 200), RuleHits(1, 9))})["a"][0] == RuleHits(16, 1600)


def test_nothing_is_kept_of_a_list_that_is_gone() -> None:
    totals, lists = HitTotals(), {"a": (7, (_RULES[0],))}
    totals.carry(1, lists, {"a": (RuleHits(5, 500),)})
    assert totals.carry(1, {}, {}) == {}
    assert totals.carry(1, lists, {"a": (RuleHits(1, 100),)})["a"] == (RuleHits(1, 100),)
