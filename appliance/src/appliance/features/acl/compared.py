"""The rules of an interface's lists after a change, compared with those before it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import attrgetter

from appliance.config.context import family_title
from appliance.config.document import RouterConfig
from appliance.features.acl.evaluate import Direction, Placed, Rules, is_unconditional
from appliance.features.acl.model import AclRule
from appliance.impact.change import Change

_SHOWN = 5
_WALKS = 8


@dataclass(frozen=True)
class Compared:
    """The differences in the rules of one family."""

    why_all_dropped: str = ""
    """Why nothing passes any more; empty if something does, or if nothing did before."""
    denier: Placed | None = None
    """A rule that denies everything, followed by rules that permit."""
    behind: int = 0
    dropped: str = ""
    """What is dropped if the family passes in part."""


def names_of(config: RouterConfig, interface: str, direction: Direction) -> tuple[str, ...]:
    """The lists bound to an interface, in the order of evaluation."""
    settings = config.interfaces.get(interface)
    if settings is None:
        return ()
    return tuple(map(str, settings.acl_in if direction == "in" else settings.acl_out))


class Lists:
    """Rules and comparisons, made once for all analyses and interfaces that share the lists."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._rules: dict[tuple[bool, tuple[str, ...]], Rules] = {}
        self._reflecting: dict[tuple[bool, tuple[str, ...], str], list[Placed]] = {}
        self._compared: dict[tuple[tuple[str, ...], tuple[str, ...], str], Compared] = {}

    @classmethod
    def of(cls, change: Change) -> Lists:
        """The comparisons of a change."""
        return change.once(cls)

    def rules(self, names: tuple[str, ...], after: bool) -> Rules:
        """The rules of these lists, in the document after the change or before it."""
        key = (after and not self._stand(names), names)
        if key not in self._rules:
            self._change.in_time()
            acls = self._change.after.acls if key[0] else self._change.before.acls
            self._rules[key] = Rules(names, acls)
        return self._rules[key]

    def _stand(self, names: tuple[str, ...]) -> bool:
        """Whether these lists are the same objects before and after: unchanged ones are shared."""
        before, after = self._change.before.acls, self._change.after.acls
        return all(before.get(name) is after.get(name) for name in names)

    def reflecting(self, names: tuple[str, ...], family: str, after: bool) -> list[Placed]:
        """The rules for a family that let answers pass, among those that a packet can reach."""
        key = (after, names, family)
        if key not in self._reflecting:
            reached = _reached(self.rules(names, after).of(family))
            self._reflecting[key] = [one for one in reached if one.reflects]
        return self._reflecting[key]

    def compared(self, earlier: tuple[str, ...], names: tuple[str, ...], family: str) -> Compared:
        """The family in these lists after the change, compared with the earlier lists."""
        key = (earlier, names, family)
        if earlier and earlier == names and self._stand(names):
            return Compared()
        if key not in self._compared:
            after = self.rules(names, after=True).of(family)
            before = self.rules(earlier, after=False).of(family) if earlier else None
            self._compared[key] = compare(before, after, family)
        return self._compared[key]


def compare(before: Sequence[Placed] | None, after: Sequence[Placed], family: str) -> Compared:
    """The differences in one family's rules; ``before`` is None if nothing was filtered."""
    if before is not None and before == after:
        return Compared()
    if not lets_through(after):
        if before is not None and not lets_through(before):
            return Compared()
        why = "every rule that is reached denies" if after else "no rule is for"
        return Compared(f"{why} {family_title(family)}")
    at = _unconditional(after)
    denier, behind = None, 0
    if at is not None and not after[at].permits and any(placed.permits for placed in after[at + 1 :]):
        stood = _unconditional(before) if before is not None else None
        if before is None or stood is None or before[stood] != after[at]:
            denier, behind = after[at], len(after) - at - 1
    narrower = not passes_all(after) and (before is None or not _only_wider(before, after))
    return Compared("", denier, behind, _dropped(after[: None if at is None else at + 1]) if narrower else "")


def _reached(rules: Sequence[Placed]) -> Sequence[Placed]:
    """The rules of one family that a packet can reach."""
    at = _unconditional(rules)
    return rules if at is None else rules[: at + 1]


def _unconditional(rules: Sequence[Placed]) -> int | None:
    return next((index for index, one in enumerate(rules) if is_unconditional(one.rule)), None)


def lets_through(rules: Iterable[Placed]) -> bool:
    """Whether any reachable rule permits, given rules for one family."""
    for _, _, rule in rules:
        if rule.action != "deny":
            return True
        if is_unconditional(rule):
            return False
    return False


def passes_all(rules: Iterable[Placed]) -> bool:
    """Whether every packet of the rules' family passes."""
    for placed in rules:
        if not placed.permits:
            return False
        if is_unconditional(placed.rule):
            return True
    return False


def _only_wider(before: Sequence[Placed], after: Sequence[Placed]) -> bool:
    """Whether rules were only added that permit, and only removed that deny; anything else may drop more."""
    start, end = _shared(before, after)
    was, now = before[start : len(before) - end], after[start : len(after) - end]
    old, new = _Known(before), _Known(after)
    stood = [one.rule for one in was if one.permits or one.rule in new]
    stands = [one.rule for one in now if not one.permits or one.rule in old]
    return stood == stands


def _shared(before: Sequence[Placed], after: Sequence[Placed]) -> tuple[int, int]:
    """How many rules with the same effect both begin with, and end with."""
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if not _same(before[at], after[at])), shorter)
    left = shorter - start
    return start, next((at for at in range(left) if not _same(before[-1 - at], after[-1 - at])), left)


def _same(one: Placed, other: Placed) -> bool:
    return one.rule is other.rule or one.rule == other.rule


class _Known:
    """Whether a rule is among others. A few questions walk the list: to hash thousands of rules is slower."""

    def __init__(self, placed: Sequence[Placed]) -> None:
        self._placed, self._asked = placed, 0

    def __contains__(self, rule: AclRule) -> bool:
        self._asked += 1
        if self._asked > _WALKS:
            return rule in self._hashed
        source, ports = rule.source, rule.destination_ports
        return any(
            one.rule == rule
            for one in self._placed
            if one.rule.source == source and one.rule.destination_ports == ports
        )

    @cached_property
    def _hashed(self) -> set[AclRule]:
        return {one.rule for one in self._placed}


def _dropped(reached: Sequence[Placed]) -> str:
    """What these rules, which let something pass, drop."""
    denying = {
        acl: [one.sequence for one in rules]
        for acl, rules in groupby([one for one in reached if not one.permits], attrgetter("acl"))
    }
    said = [
        f"those that {_rules(sequences)} of {acl} {verb(len(sequences), 'denies', 'deny')}"
        for acl, sequences in denying.items()
    ]
    if not is_unconditional(reached[-1].rule):
        said.append("those that no rule permits")
    return " and ".join(said)


def _rules(sequences: Sequence[int]) -> str:
    more = f" and {len(sequences) - _SHOWN} more" if len(sequences) > _SHOWN else ""
    return f"{verb(len(sequences), 'rule', 'rules')} {', '.join(map(str, sequences[:_SHOWN]))}{more}"


def verb(count: int, one: str, many: str) -> str:
    return one if count == 1 else many
