"""Which objects are removed, made and changed, and which others must be made anew with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from planner.declared import Declared

T = TypeVar("T", bound=Declared)


class Contradiction(Exception):
    """The desired state is impossible: an object lacks what it needs, or two wait for each other."""


@dataclass(frozen=True)
class Side(Generic[T]):
    """One of the two states, with the tokens that its objects provide."""

    items: Mapping[str, T]
    keys: dict[str, str]
    """Token -> key."""
    beside: dict[str, T]
    """Token -> object."""

    @classmethod
    def of(cls, items: Mapping[str, T]) -> Side[T]:
        """The tokens are computed once, because planning asks for them many times."""
        items = dict(items)
        keys = {provided(key, item): key for key, item in items.items()}
        return cls(items, keys, {token: items[key] for token, key in keys.items()})

    def resolved(self, seen: Side[T]) -> Side[T]:
        """The same state with the objects' open values filled in, where there are any."""
        filled = {
            key: item.resolve(seen.items.get(key), self.beside)
            for key, item in self.items.items()
            if type(item).resolve is not Declared.resolve
        }
        if not filled:
            return self
        target = {**self.items, **filled}
        return Side(target, self.keys, {token: target[key] for token, key in self.keys.items()})

    def dependencies(self, item: Declared) -> tuple[str, ...]:
        """All tokens that must come before the object."""
        if type(item).follows is Declared.follows:
            return item.requires()
        return (*item.requires(), *item.follows(self.beside))


def provided(key: str, item: Declared) -> str:
    """``item.provides``, without a call where it is the key."""
    return key if type(item).provides is Declared.provides else item.provides


def check(desired: Side[T]) -> None:
    """Raise :class:`Contradiction` where an object lacks what it requires or conflicts with the others."""
    for item in desired.items.values():
        for token in item.requires():
            if token not in desired.keys:
                raise Contradiction(f"{item.label()} needs {token.replace('/', ' ', 1)}, which is not there")
        if type(item).problems is not Declared.problems:
            for problem in item.problems(desired.beside):
                raise Contradiction(problem)


@dataclass
class Differences(Generic[T]):
    """The differences between two states. An object made anew is in ``removed`` and in ``made``."""

    seen: Side[T]
    wanted: Side[T]
    """The desired objects, resolved."""
    removed: dict[str, T] = field(default_factory=dict)
    made: dict[str, T] = field(default_factory=dict)
    changed: dict[str, tuple[T, T]] = field(default_factory=dict)
    paused: dict[str, tuple[T, T]] = field(default_factory=dict)
    """Objects that carry before and after, but may not in between."""

    @classmethod
    def between(cls, desired: Side[T], seen: Side[T]) -> Differences[T]:
        """Classify the objects, then propagate: an object that depends on one made anew is made anew as
        well.
        """
        found = cls(seen, desired.resolved(seen))
        found._sort_out()
        if found.removed or found.made or found.changed:
            stands_on = found._stands_on()
            found._spread(stands_on)
            found._pause(stands_on)
        return found

    def _sort_out(self) -> None:
        for key, before in self.seen.items.items():
            after = self.wanted.items.get(key)
            if after is None:
                self.removed[key] = before
            elif after != before:
                if after.needs_recreate(before) or before.needs_recreate(after):
                    self.removed[key], self.made[key] = before, after
                else:
                    self.changed[key] = (before, after)
        for key, after in self.wanted.items.items():
            if key not in self.seen.items:
                self.made[key] = after

    def _stands_on(self) -> dict[str, dict[str, bool]]:
        """Token -> the keys that depend on it in either state, and whether they rebind to it in place."""
        stands_on: dict[str, dict[str, bool]] = {}
        for key, before in self.seen.items.items():
            after = self.wanted.items.get(key)
            if after is None:
                continue
            tokens = self.seen.dependencies(before)
            if after is not before or type(after).follows is not Declared.follows:
                tokens += self.wanted.dependencies(after)
            soft: tuple[str, ...] = ()
            if type(after).rebinds is not Declared.rebinds:
                soft = before.rebinds() + after.rebinds()
            for token in tokens:
                below = stands_on.setdefault(token, {})
                below[key] = below.get(key, True) and token in soft
        return stands_on

    def _spread(self, stands_on: Mapping[str, Mapping[str, bool]]) -> None:
        gone = {provided(key, item) for key, item in self.removed.items()}
        come = {provided(key, item) for key, item in self.made.items()}
        queue = list(gone | come)
        again = gone & come
        while queue:
            token = queue.pop()
            for key, rebinds in stands_on.get(token, {}).items():
                if key in self.removed or (rebinds and token not in again):
                    continue
                self.removed[key], self.made[key] = self.seen.items[key], self.wanted.items[key]
                self.changed.pop(key, None)
                moved = provided(key, self.seen.items[key])
                if moved not in again:
                    again.add(moved)
                    queue.append(moved)

    def _pause(self, stands_on: Mapping[str, Mapping[str, bool]]) -> None:
        """Traffic stops where a change in place requires it or a guard is made anew, and on everything
        above.
        """
        queue = [
            key
            for key, (before, after) in self.changed.items()
            if after.pauses(before) or before.pauses(after)
        ]
        for key in self.removed.keys() & self.made.keys():
            guarded = {*self.removed[key].guards(), *self.made[key].guards()}
            queue += [self.wanted.keys[token] for token in guarded if token in self.wanted.keys]
        while queue:
            key = queue.pop()
            if key in self.paused or key in self.made:
                continue
            before, after = self.seen.items[key], self.wanted.items[key]
            if before.carries and after.carries:
                self.paused[key] = (before, after)
                queue += stands_on.get(provided(key, after), ())
