"""The verdict of a prefix list and a route map on one route, and which rule decides. Pure.

A route may be known only in part: bgpd shows the route as its policy left it, not as the neighbor sent it. A
condition on an unknown attribute holds in one of the outcomes and does not hold in the others, and each
outcome states what it assumes. The rules are those of bgpd (compared with it in
tests/integration/frr/test_policy_verdicts.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import ip_network

from frr_config.protocols.policy.as_path_regex import AsPathRegex
from frr_config.protocols.policy.communities import plain_community
from frr_config.protocols.policy.model import Match, Policy, PrefixList, RouteMapRule, SetActions
from frr_config.types import IpNetwork

_NOTHING = SetActions()
_MOST_STEPS = 20_000
_MOST_OUTCOMES = 16
_MOST_CONTINUED = 50
_LONGEST_PATH = 4000
"""Characters of an AS path; a longer path is not compared."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A route as far as it is known; None is an unknown attribute."""

    prefix: IpNetwork
    as_path: str | None = None
    """As FRR prints it; empty for a route of this router."""
    communities: frozenset[str] | None = None
    """As numbers, ``65535:65281`` for no-export."""
    metric: int | None = None
    """MED; 0 where the route has none."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One possible outcome."""

    permits: bool
    rule: str
    """For example ``route map in, rule 20``; empty where no policy applies."""
    given: SetActions = _NOTHING
    """The attributes that the route map sets when it permits; an empty value is left unchanged."""
    assumes: tuple[str, ...] = ()
    """Unknown facts that this outcome assumes."""

    @property
    def changes(self) -> tuple[str, ...]:
        """The attributes that the route map sets, in words."""
        return tuple(_in_words(self.given))


class TooLong(Exception):
    """The policy takes more steps than the evaluation of one route may."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A route while it passes through route maps."""

    facts: Facts
    given: SetActions = _NOTHING
    assumes: tuple[str, ...] = ()

    def outcome(self, permits: bool, rule: str) -> Outcome:
        return Outcome(permits, rule, self.given if permits else _NOTHING, self.assumes)

    def assuming(self, what: str) -> _Way:
        return replace(self, assumes=(*self.assumes, what)) if what else self


class Evaluator:
    """Evaluates routes by one policy; lists are prepared once. Not thread-safe."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._prefix_lists: dict[str, _PreparedList] = {}
        self._expressions: dict[str, AsPathRegex | None] = {}
        self._steps = 0

    def outcomes(self, prefix_list: str | None, route_map: str | None, facts: Facts) -> tuple[Outcome, ...]:
        """Every outcome for a route in a prefix list and then a route map. Raises TooLong."""
        self._steps = 0
        said = Outcome(True, "")
        if prefix_list is not None:
            permits, sequence = self._listed(prefix_list, facts.prefix)
            rule = f"prefix list {prefix_list}, " + (
                f"rule {sequence}" if sequence else "where no rule matches"
            )
            said = Outcome(permits, rule)
        if not said.permits or route_map is None:
            return (said,)
        found: list[Outcome] = []
        for way, permits, rule in self._through(route_map, _Way(facts), 0):
            found.append(way.outcome(permits, rule))
            if len(found) > _MOST_OUTCOMES:
                raise TooLong
        return tuple(found)

    def may_set(self, route_map: str | None) -> frozenset[str]:
        """Fields of Facts that a route map, or one that it calls, can change."""
        found: set[str] = set()
        waiting: list[str | None] = [route_map]
        seen: set[str | None] = {None}
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            known = self._policy.route_maps.get(name or "")
            for rule in known.rules.values() if known is not None else ():
                found.update(_fields_set(rule.set))
                waiting.append(rule.call)
        return frozenset(found)

    def _through(self, name: str, way: _Way, depth: int) -> Iterator[tuple[_Way, bool, str]]:
        """The outcomes of a route map, each with whether the route is permitted and by which rule."""
        known = self._policy.route_maps.get(name)
        rules = sorted(known.rules.items()) if known is not None else []
        yield from self._from(name, rules, 0, way, depth, "")

    def _from(
        self, name: str, rules: list[tuple[int, RouteMapRule]], at: int, way: _Way, depth: int, permitted: str
    ) -> Iterator[tuple[_Way, bool, str]]:
        """Evaluation from one rule on; ``permitted`` names the rule that permitted the route before it
        continued here.
        """
        if depth > _MOST_CONTINUED:
            raise TooLong
        while at < len(rules):
            self._spend(1)
            sequence, rule = rules[at]
            holds, why = self._holds(rule.match, way.facts)
            if holds is not False:
                label = f"route map {name}, rule {sequence}"
                met = way.assuming("" if holds else f"{label} matches on {why}")
                yield from self._matched(name, rules, at, met, depth, label)
                if holds:
                    return
                way = way.assuming(f"{label} does not match on {why}")
            permitted = ""
            at += 1
        # bgpd keeps an earlier rule's permission only where no rule follows: a following rule that does not
        # match revokes it.
        yield way, bool(permitted), permitted or f"route map {name}, where no rule matches"

    def _matched(
        self, name: str, rules: list[tuple[int, RouteMapRule]], at: int, way: _Way, depth: int, label: str
    ) -> Iterator[tuple[_Way, bool, str]]:
        rule = rules[at][1]
        if rule.action == "deny":
            yield way, False, label
            return
        way = _with_set(way, rule.set)
        called = [(way, True, "")] if rule.call is None else self._through(rule.call, way, depth + 1)
        for after, permits, by in called:
            if not permits:
                yield after, False, f"{label}, which calls {by}"
            elif rule.on_match_next:
                yield from self._from(name, rules, at + 1, after, depth + 1, label)
            elif rule.on_match_goto is not None:
                later = next(
                    (i for i in range(at, len(rules)) if rules[i][0] >= rule.on_match_goto), len(rules)
                )
                yield from self._from(name, rules, later, after, depth + 1, label)
            else:
                yield after, True, label

    def _holds(self, match: Match, facts: Facts) -> tuple[bool | None, str]:
        """Whether all conditions hold; None, with the condition, where that is not known."""
        unknown = ""
        for holds, what in self._conditions(match, facts):
            if holds is False:
                return False, ""
            if holds is None:
                unknown = unknown or what
        return (None, unknown) if unknown else (True, "")

    def _conditions(self, match: Match, facts: Facts) -> Iterator[tuple[bool | None, str]]:
        for name in (match.prefix_list, match.ipv6_prefix_list):
            if name is not None:
                yield self._listed(name, facts.prefix)[0], ""
        if match.as_path_list is not None:
            yield self._as_path(match.as_path_list, facts.as_path), f"AS path list {match.as_path_list}"
        if match.community_list is not None:
            yield (
                self._communities(match.community_list, facts.communities),
                (f"community list {match.community_list}"),
            )
        if match.metric is not None:
            yield None if facts.metric is None else facts.metric == match.metric, f"MED {match.metric}"
        for field_name in ("interface", "tag", "source_protocol"):
            if (value := getattr(match, field_name)) is not None:
                yield None, f"{field_name.replace('_', ' ')} {value}"

    def _listed(self, name: str, prefix: IpNetwork) -> tuple[bool, int | None]:
        """Whether a prefix list permits the prefix, and the rule that decides."""
        prepared = self._prefix_lists.get(name)
        if prepared is None:
            known = self._policy.prefix_lists.get(name)
            if known is None:
                return False, None
            self._spend(len(known.rules) // 50)
            prepared = self._prefix_lists[name] = _PreparedList(known)
        return prepared.verdict(prefix)

    def _as_path(self, name: str, path: str | None) -> bool | None:
        known = self._policy.as_path_lists.get(name)
        if known is None:
            return False
        if path is not None and len(path) > _LONGEST_PATH:
            return None
        for _, rule in sorted(known.rules.items()):
            self._spend(1)
            if path is None:
                return None
            expression = self._expression(rule.regex)
            if expression is None:
                return None
            if expression.matches(path):
                return rule.action == "permit"
        return False

    def _expression(self, text: str) -> AsPathRegex | None:
        if text not in self._expressions:
            try:
                self._expressions[text] = AsPathRegex(text)
            except (ValueError, RecursionError):
                self._expressions[text] = None
        return self._expressions[text]

    def _communities(self, name: str, communities: frozenset[str] | None) -> bool | None:
        known = self._policy.community_lists.get(name)
        for _, rule in sorted(known.rules.items()) if known is not None else ():
            self._spend(1)
            if communities is None:
                return None
            if communities.issuperset(map(plain_community, rule.communities)):
                return rule.action == "permit"
        return False

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise TooLong


class _PreparedList:
    """A prefix list by network: the rules for a prefix are found in one step for each of its bits."""

    def __init__(self, known: PrefixList) -> None:
        self._version = 6 if known.family == "ipv6" else 4
        self._rules: dict[tuple[int, int], list[tuple[int, int, int, bool]]] = {}
        for sequence, rule in sorted(known.rules.items()):
            network = ip_network(rule.prefix)
            length = network.prefixlen
            low = rule.ge if rule.ge is not None else length
            high = (
                rule.le if rule.le is not None else (network.max_prefixlen if rule.ge is not None else length)
            )
            key = (length, int(network.network_address))
            self._rules.setdefault(key, []).append((sequence, low, high, rule.action == "permit"))

    def verdict(self, prefix: IpNetwork) -> tuple[bool, int | None]:
        """Whether the prefix is permitted, and the sequence of the deciding rule; without a matching rule
        it is denied.
        """
        if prefix.version != self._version:
            return False, None
        address, best = int(prefix.network_address), None
        for length in range(prefix.prefixlen + 1):
            shift = prefix.max_prefixlen - length
            for rule in self._rules.get((length, address >> shift << shift), ()):
                if rule[1] <= prefix.prefixlen <= rule[2] and (best is None or rule[0] < best[0]):
                    best = rule
        return (False, None) if best is None else (best[3], best[0])


def _fields_set(actions: SetActions) -> Iterator[str]:
    if actions.as_path_prepend:
        yield "as_path"
    if actions.communities:
        yield "communities"
    if actions.metric is not None:
        yield "metric"


def _with_set(way: _Way, actions: SetActions) -> _Way:
    """Later rules see the attributes that earlier rules set."""
    facts, given = way.facts, way.given
    new = {name: value for name, value in actions if value not in (None, (), False)}
    if actions.metric is not None:
        facts = replace(facts, metric=actions.metric)
    if actions.as_path_prepend:
        added = " ".join(map(str, actions.as_path_prepend))
        new["as_path_prepend"] = (*actions.as_path_prepend, *given.as_path_prepend)
        if facts.as_path is not None:
            facts = replace(facts, as_path=f"{added} {facts.as_path}".rstrip())
    if actions.communities:
        numbers = frozenset(map(plain_community, actions.communities))
        before = facts.communities if actions.communities_additive else frozenset()
        facts = replace(facts, communities=None if before is None else before | numbers)
        if actions.communities_additive and given.communities:
            new["communities"] = tuple(dict.fromkeys((*given.communities, *actions.communities)))
        new["communities_additive"] = actions.communities_additive and (
            given.communities_additive or not given.communities
        )
    return replace(way, facts=facts, given=given.model_copy(update=new))


_WORDS = {
    "local_preference": "local preference {}",
    "metric": "MED {}",
    "weight": "weight {}",
    "origin": "origin {}",
    "next_hop": "next hop {}",
    "ipv6_next_hop": "next hop {}",
    "tag": "tag {}",
}


def _in_words(given: SetActions) -> Iterator[str]:
    for name, words in _WORDS.items():
        if (value := getattr(given, name)) is not None:
            yield words.format(value)
    if given.as_path_prepend:
        yield f"AS path gets {' '.join(map(str, given.as_path_prepend))} in front"
    if given.communities:
        yield f"communities {'also ' if given.communities_additive else ''}{' '.join(given.communities)}"
    if given.large_communities:
        yield f"large communities {' '.join(given.large_communities)}"
