"""The changes between two states, in order.

The rules follow from what the objects declare:

1. An object is made after the objects that it requires and follows, and removed before them. It is changed in
   place after them, unless it shrinks within one of them: then before.
2. An object that carries traffic is silenced. Silencing comes before all other changes, and waking after all
   but the late removals, so that nothing passes unguarded when the changes are done or undone. While a guard
   is made anew, the objects it guards are silenced.
3. An object that others exchange in place is made before the exchange and removed after it.
4. Phases: silencing in ``detach``, waking in ``attach``, everything else as the object declares. Among
   changes that could come next, kinds keep the order in which the caller names them, reversed for removals.

Undoing the changes in reverse passes through the same intermediate states, so it is always possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

from planner.declared import PHASES, Declared, Phase
from planner.differences import Differences, Side, check
from planner.order import Change, Node, ordered

T = TypeVar("T", bound=Declared)

_SILENCE, _BUILD, _WAKE, _REMOVE = range(4)
"""Order within a phase."""


def changes(
    desired: Mapping[str, T], observed: Mapping[str, T], kinds: Sequence[type[T]] = ()
) -> list[Change[T]]:
    """The changes that bring ``observed`` to ``desired``; none when they are equal.

    ``kinds`` only breaks ties. Raises :class:`planner.Contradiction` where ``desired`` is impossible.
    """
    wanted = Side.of(desired)
    check(wanted)
    found = Differences.between(wanted, Side.of(observed))
    graph = _Graph(found, {kind: place for place, kind in enumerate(kinds)})
    return list(ordered(graph.nodes))


class _Graph(Generic[T]):
    """A node for each change, by the key of its object, and which changes must come before which."""

    def __init__(self, found: Differences[T], ranks: Mapping[type[T], int]) -> None:
        self._found = found
        self._ranks = ranks
        self.nodes: list[Node[T]] = []
        self._silence: dict[str, Node[T]] = {}
        self._remove: dict[str, Node[T]] = {}
        self._build: dict[str, Node[T]] = {}
        """Makes the object, or changes it in place."""
        self._wake: dict[str, Node[T]] = {}
        self._add_nodes()
        self._order_upwards()
        self._order_downwards()

    # -- nodes

    def _add_nodes(self) -> None:
        for position, key in enumerate(self._found.seen.items):
            if key in self._found.removed:
                self._add_removal(key, position)
            elif key in self._found.changed or key in self._found.paused:
                self._add_update(key, position)
        for position, key in enumerate(self._found.wanted.items):
            if key in self._found.made:
                self._add_making(key, position)

    def _add_removal(self, key: str, position: int) -> None:
        before = self._found.removed[key]
        silent = _quiet(before)
        remove = self._node(before.down_phase, _REMOVE, -self._rank(before), 0, position, silent, None)
        self._remove[key] = remove
        if before.carries:
            self._add_silence(key, position, before, silent).precedes(remove)

    def _add_making(self, key: str, position: int) -> None:
        after = self._found.made[key]
        silent = _quiet(after)
        make = self._node(after.up_phase, _BUILD, self._rank(after), 0, position, None, silent)
        self._build[key] = make
        if after.carries:
            make.precedes(self._add_wake(key, position, silent, after))

    def _add_update(self, key: str, position: int) -> None:
        before, after = self._found.seen.items[key], self._found.wanted.items[key]
        stays = before.carries and after.carries and key not in self._found.paused
        first, last = (before, after) if stays else (_quiet(before), _quiet(after))
        chain: list[Node[T]] = []
        if first is not before:
            chain.append(self._add_silence(key, position, before, first))
        if first != last:
            rank = self._rank(after)
            self._build[key] = self._node(after.up_phase, _BUILD, rank, 1, position, first, last)
            chain.append(self._build[key])
        if last is not after:
            chain.append(self._add_wake(key, position, last, after))
        for one, other in pairwise(chain):
            one.precedes(other)

    def _add_silence(self, key: str, position: int, before: T, after: T) -> Node[T]:
        node = self._node("detach", _SILENCE, -self._rank(before), 0, position, before, after)
        self._silence[key] = node
        return node

    def _add_wake(self, key: str, position: int, before: T, after: T) -> Node[T]:
        self._wake[key] = self._node("attach", _WAKE, self._rank(after), 0, position, before, after)
        return self._wake[key]

    def _node(
        self,
        phase: Phase,
        slot: int,
        rank: int,
        operation: int,
        position: int,
        before: T | None,
        after: T | None,
    ) -> Node[T]:
        node = Node(PHASES.index(phase), (slot, rank, operation, position), before, after)
        self.nodes.append(node)
        return node

    def _rank(self, item: T) -> int:
        return self._ranks.get(type(item), len(self._ranks))

    # -- order

    def _order_upwards(self) -> None:
        wanted, keys = self._found.wanted, self._found.wanted.keys
        for key in {**self._build, **self._wake}:
            item = wanted.items[key]
            build, wake = self._build.get(key), self._wake.get(key)
            for token in wanted.dependencies(item):
                base = keys.get(token, "")
                if build is not None and base in self._build:
                    if self._shrinks(key):
                        build.precedes(self._build[base])
                    else:
                        self._build[base].precedes(build)
                if wake is not None and base in self._wake:
                    self._wake[base].precedes(wake)

    def _shrinks(self, key: str) -> bool:
        before, after = self._build[key].before, self._build[key].after
        return before is not None and after is not None and after.shrinks(before)

    def _order_downwards(self) -> None:
        seen, keys = self._found.seen, self._found.seen.keys
        for key in {**self._silence, **self._remove, **self._build}:
            item = seen.items.get(key)
            if item is None:
                continue
            silence = self._silence.get(key)
            # The change that releases what the object depended on: its removal, or its change in place.
            release = self._remove.get(key) or self._build.get(key)
            for token in seen.dependencies(item):
                base = keys.get(token, "")
                if release is not None and base in self._remove:
                    release.precedes(self._remove[base])
                if silence is not None and base in self._silence:
                    silence.precedes(self._silence[base])


def _quiet(item: T) -> T:
    return item.quiet() if item.carries else item
