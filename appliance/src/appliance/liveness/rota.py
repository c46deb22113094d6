"""Answers about many objects, a bounded number asked at a time: those that changed first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

PORTION = 200
"""How many are asked in one look: some 40 ms of zebra's time, once in five seconds."""


class Rota(Generic[K, V]):
    """Keeps the last answer about each key. Not thread-safe.

    A look asks about keys it does not know yet, then about one of each group, then about those whose answer
    is the oldest. Where the answer about one of a group is not what it was, the rest of the group comes next:
    thousands of routes share a few next hops, and change together.
    """

    def __init__(self, portion: int = PORTION) -> None:
        self._portion = portion
        self._known: dict[K, V] = {}
        """The oldest answers first."""
        self._next: dict[K, None] = {}
        """Not known, or doubted."""

    def look(self, groups: Mapping[K, Hashable], ask: Callable[[Sequence[K]], Iterable[V]]) -> Mapping[K, V]:
        """The answers about the keys of ``groups``, as far as they are known. Raises what ``ask`` raises."""
        if self._known.keys() - groups.keys():
            self._known = {key: value for key, value in self._known.items() if key in groups}
        self._next = {key: None for key in self._next if key in groups}
        self._next.update(dict.fromkeys(key for key in groups if key not in self._known))
        chosen = self._chosen(groups)
        doubted: set[Hashable] = set()
        for key, value in zip(chosen, ask(chosen), strict=True):
            if key in self._known and self._known[key] != value:
                doubted.add(groups[key])
            self._next.pop(key, None)
            self._known.pop(key, None)
            self._known[key] = value
        if doubted:
            asked = set(chosen)
            siblings = (key for key, group in groups.items() if group in doubted and key not in asked)
            self._next.update(dict.fromkeys(siblings))
        return self._known

    def doubt(self, keys: Iterable[K]) -> None:
        """Ask about these next."""
        self._next = {**dict.fromkeys(key for key in keys if key in self._known), **self._next}

    def _chosen(self, groups: Mapping[K, Hashable]) -> list[K]:
        chosen = dict.fromkeys(list(self._next)[: self._portion])
        if len(chosen) < self._portion:
            seen: set[Hashable] = set()
            others: list[K] = []
            for key in self._known:
                if groups[key] in seen or key in chosen:
                    others.append(key)
                else:
                    seen.add(groups[key])
                    chosen[key] = None
            chosen.update(dict.fromkeys(others))
        return list(chosen)[: self._portion]
