"""Prefix lists, AS path lists, community lists and route maps as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from frr_config.line import Line
from frr_config.protocols.policy.clauses import WORDS
from frr_config.protocols.policy.communities import community_words
from frr_config.protocols.policy.model import (
    CommunityList,
    Match,
    Policy,
    PrefixList,
    RouteMap,
    RouteMapRule,
    SetActions,
)
from frr_config.rendered_text import one_spaced

_LAST_SEQUENCE = 65535


def policy_lines(policy: Policy) -> Iterator[Line]:
    """All lists and route maps."""
    for name, prefix_list in policy.prefix_lists.items():
        yield from (Line((), text) for text in _prefix_list(name, prefix_list))
    for name, as_path_list in policy.as_path_lists.items():
        rules = {sequence: f"{rule.action} {rule.regex}" for sequence, rule in as_path_list.rules.items()}
        yield from (Line((), f"bgp as-path access-list {name} {text}") for text in _rules(rules))
    for name, community_list in policy.community_lists.items():
        yield from (Line((), text) for text in _community_list(name, community_list))
    for name, route_map in policy.route_maps.items():
        yield from _route_map(name, route_map)


def _prefix_list(name: str, prefix_list: PrefixList) -> Iterator[str]:
    ipv6 = prefix_list.family == "ipv6"
    start = f"{'ipv6' if ipv6 else 'ip'} prefix-list {name}"
    if prefix_list.description:
        yield f"{start} description {one_spaced(prefix_list.description)}"
    yield from (f"{start} {text}" for text in _rules(_prefix_rules(prefix_list)))
    if not prefix_list.rules:
        # FRR permits everything by a list without rules; here a route that matches no rule is denied.
        yield f"{start} seq {_LAST_SEQUENCE} deny {'::/0 le 128' if ipv6 else '0.0.0.0/0 le 32'}"


def _prefix_rules(prefix_list: PrefixList) -> dict[int, str]:
    rules = {}
    for sequence, rule in prefix_list.rules.items():
        ge = "" if rule.ge is None else f" ge {rule.ge}"
        le = "" if rule.le is None else f" le {rule.le}"
        rules[sequence] = f"{rule.action} {rule.prefix}{ge}{le}"
    return rules


def _rules(rules: Mapping[int, str]) -> Iterator[str]:
    """Rules by sequence, without those that repeat an earlier rule: FRR keeps each only once."""
    said: set[str] = set()
    for sequence, text in sorted(rules.items()):
        if text not in said:
            said.add(text)
            yield f"seq {sequence} {text}"


def _community_list(name: str, community_list: CommunityList) -> Iterator[str]:
    rules = {
        sequence: f"{rule.action} {community_words(rule.communities)}"
        for sequence, rule in community_list.rules.items()
    }
    yield from (f"bgp community-list standard {name} {text}" for text in _rules(rules))


def _route_map(name: str, route_map: RouteMap) -> Iterator[Line]:
    for sequence, rule in route_map.rules.items():
        opener = f"route-map {name} {rule.action} {sequence}"
        yield Line((), opener)
        yield from (Line((opener,), text) for text in _rule(rule))
    if not route_map.rules:
        # FRR permits everything where a route map that is called does not exist.
        yield Line((), f"route-map {name} deny {_LAST_SEQUENCE}")


def _rule(rule: RouteMapRule) -> Iterator[str]:
    if rule.description:
        yield f"description {one_spaced(rule.description)}"
    yield from _match(rule.match)
    yield from _set(rule.set)
    if rule.call is not None:
        yield f"call {rule.call}"
    if rule.on_match_next:
        yield "on-match next"
    if rule.on_match_goto is not None:
        yield f"on-match goto {rule.on_match_goto}"


def _match(match: Match) -> Iterator[str]:
    for clause, words in WORDS.items():
        if clause.part == "match" and (value := getattr(match, clause.field)) is not None:
            yield f"match {words} {value}"


def _set(actions: SetActions) -> Iterator[str]:
    for clause, words in WORDS.items():
        if clause.part == "set" and (value := _value(actions, clause.field)):
            yield f"set {words} {value}"


def _value(actions: SetActions, field: str) -> str:
    """What is set, in FRR's words; empty for nothing."""
    value = getattr(actions, field)
    if value is None or value == ():
        return ""
    if field == "as_path_prepend":
        return " ".join(map(str, value))
    if field == "communities":
        return community_words(value) + (" additive" if actions.communities_additive else "")
    if field == "large_communities":
        return " ".join(sorted(value, key=lambda text: tuple(map(int, text.split(":")))))
    return str(value)
