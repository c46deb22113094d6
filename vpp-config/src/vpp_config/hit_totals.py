"""Hits of access lists' rules, continued when VPP resets its counters. Pure.

VPP zeroes a list's counters when its rules are replaced, so the hits that a rule had until then are kept as
its base. A rule that is also in the new list keeps its total, even at another position. A rule that was
removed and comes back starts at zero. Among equal rules in one list, the first stays the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vpp_config.objects import AclRule

_Identity = tuple[AclRule, int]
"""A rule and the number of equal rules before it."""


class RuleHits(NamedTuple):
    """The packets that a rule matched, in both directions and on all interfaces. A reflected session
    counts its first packet.
    """

    packets: int
    bytes: int


class HitTotals:
    """The totals of each list's rules when VPP reset their counters."""

    def __init__(self) -> None:
        self._epoch: dict[str, tuple[int, int, tuple[AclRule, ...]]] = {}
        self._base: dict[str, dict[int, RuleHits]] = {}
        """By position in the list; zero values are omitted."""
        self._last: dict[str, tuple[RuleHits, ...]] = {}

    def carry(
        self,
        generation: int,
        lists: Mapping[str, tuple[int, tuple[AclRule, ...]]],
        raw: Mapping[str, tuple[RuleHits, ...]],
    ) -> dict[str, tuple[RuleHits, ...]]:
        """Totals from VPP's present counters. ``lists`` has VPP's index of each list, and its rules."""
        totals = {}
        for name, (index, rules) in lists.items():
            now = raw[name]
            epoch = (generation, index, rules)
            before = self._epoch.get(name)
            if before is not None and (before != epoch or _fell(self._last[name], now)):
                self._rebase(name, before[2], rules)
            self._epoch[name], self._last[name] = epoch, now
            totals[name] = _add(self._base.get(name), now)
        for name in self._epoch.keys() - lists.keys():
            del self._epoch[name], self._last[name]
            self._base.pop(name, None)
        return totals

    def _rebase(self, name: str, old: tuple[AclRule, ...], new: tuple[AclRule, ...]) -> None:
        totals = _add(self._base.get(name), self._last[name])
        counted = {place: hits for place, hits in enumerate(totals) if hits.packets}
        self._base[name] = _moved(counted, old, new)


def _fell(before: Sequence[RuleHits], now: Sequence[RuleHits]) -> bool:
    return any(new.packets < old.packets for old, new in zip(before, now, strict=False))


def _add(base: Mapping[int, RuleHits] | None, now: tuple[RuleHits, ...]) -> tuple[RuleHits, ...]:
    if not base:
        return now
    totals = list(now)
    for place, start in base.items():
        packets, octets = totals[place]
        totals[place] = RuleHits(packets + start.packets, octets + start.bytes)
    return tuple(totals)


def _moved(
    counted: Mapping[int, RuleHits], old: Sequence[AclRule], new: Sequence[AclRule]
) -> dict[int, RuleHits]:
    """The hits of the old list's rules at their positions in the new list."""
    same = _alike(old, new)
    kept = {place: hits for place, hits in counted.items() if place < same}
    if len(kept) < len(counted):
        # The common beginning of the two lists counts the same for both.
        left = {
            identity: counted[place]
            for place, identity in enumerate(_identities(old[same:]), same)
            if place in counted
        }
        for place, identity in enumerate(_identities(new[same:]), same):
            if identity in left:
                kept[place] = left[identity]
    return kept


def _alike(old: Sequence[AclRule], new: Sequence[AclRule]) -> int:
    """The number of equal rules at the beginning of both."""
    pairs = zip(old, new, strict=False)
    shorter = min(len(old), len(new))
    return next((at for at, (one, other) in enumerate(pairs) if one is not other and one != other), shorter)


def _identities(rules: Sequence[AclRule]) -> list[_Identity]:
    seen: dict[AclRule, int] = {}
    identities = []
    for rule in rules:
        number = seen[rule] = seen.get(rule, -1) + 1
        identities.append((rule, number))
    return identities
