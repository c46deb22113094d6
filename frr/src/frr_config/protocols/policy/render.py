"""Prefix lists, AS path lists, community lists and route maps as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from frr_config.line import Line
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
    values = {
        "ip address prefix-list": match.prefix_list,
        "ipv6 address prefix-list": match.ipv6_prefix_list,
        "as-path": match.as_path_list,
        "community": match.community_list,
        "interface": match.interface,
        "metric": match.metric,
        "tag": match.tag,
        "source-protocol": match.source_protocol,
    }
    for words, value in values.items():
        if value is not None:
            yield f"match {words} {value}"


def _set(actions: SetActions) -> Iterator[str]:
    values = {
        "local-preference": actions.local_preference,
        "metric": actions.metric,
        "metric-type": actions.metric_type,
        "weight": actions.weight,
        "origin": actions.origin,
        "ip next-hop": actions.next_hop,
        "ipv6 next-hop global": actions.ipv6_next_hop,
        "tag": actions.tag,
        "src": actions.source,
    }
    for words, value in values.items():
        if value is not None:
            yield f"set {words} {value}"
    if actions.as_path_prepend:
        yield f"set as-path prepend {' '.join(map(str, actions.as_path_prepend))}"
    if actions.communities:
        additive = " additive" if actions.communities_additive else ""
        yield f"set community {community_words(actions.communities)}{additive}"
    if actions.large_communities:
        ordered = sorted(actions.large_communities, key=lambda text: tuple(map(int, text.split(":"))))
        yield f"set large-community {' '.join(ordered)}"
