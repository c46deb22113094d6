"""Which objects go, come and change; and which of the others have to move with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from planner.declared import Declared

T = TypeVar("T", bound=Declared)


class Contradiction(Exception):
    """The desired state cannot be: an object lacks what it needs, or two wait for each other."""


def check(desired: Mapping[str, Declared]) -> None:
    """Raise :class:`Contradiction` where an object lacks what it requires or does not fit the others."""
    beside = by_token(desired)
    for item in desired.values():
        for token in item.requires():
            if token not in beside:
                raise Contradiction(f"{item.label()} needs {token.replace('/', ' ', 1)}, which is not there")
        for problem in item.problems(beside):
            raise Contradiction(problem)


def by_token(state: Mapping[str, T]) -> dict[str, T]:
    """The objects by what they provide."""
    return {item.provides: item for item in state.values()}


def dependencies(item: Declared, beside: Mapping[str, Declared]) -> tuple[str, ...]:
    """All tokens that order the object behind others."""
    return (*item.requires(), *item.follows(beside))


@dataclass
class Differences(Generic[T]):
    """What is between two states. An object made anew is in ``removed`` and in ``made``."""

    observed: Mapping[str, T]
    target: dict[str, T]
    """The desired objects, resolved."""
    removed: dict[str, T] = field(default_factory=dict)
    made: dict[str, T] = field(default_factory=dict)
    changed: dict[str, tuple[T, T]] = field(default_factory=dict)
    paused: dict[str, tuple[T, T]] = field(default_factory=dict)
    """Objects that carry before and after, and in between may not."""

    @classmethod
    def between(cls, desired: Mapping[str, T], observed: Mapping[str, T]) -> Differences[T]:
        """Sort the objects out, then spread: what stands on something that moves is made anew as well."""
        beside = by_token(desired)
        target = {key: item.resolve(observed.get(key), beside) for key, item in desired.items()}
        found = cls(observed, target)
        found._sort_out()
        stands_on = found._stands_on()
        found._spread(stands_on)
        found._pause(stands_on)
        return found

    def _sort_out(self) -> None:
        for key, before in self.observed.items():
            after = self.target.get(key)
            if after is None:
                self.removed[key] = before
            elif after != before:
                if after.needs_recreate(before):
                    self.removed[key], self.made[key] = before, after
                else:
                    self.changed[key] = (before, after)
        for key, after in self.target.items():
            if key not in self.observed:
                self.made[key] = after

    def _stands_on(self) -> dict[str, dict[str, bool]]:
        """Token -> the keys that depend on it in either state, and whether they rebind to it in place."""
        stands_on: dict[str, dict[str, bool]] = {}
        seen, wanted = by_token(self.observed), by_token(self.target)
        for key, before in self.observed.items():
            after = self.target.get(key)
            if after is None:
                continue
            for item, beside in ((before, seen), (after, wanted)):
                soft = item.rebinds()
                for token in dependencies(item, beside):
                    below = stands_on.setdefault(token, {})
                    below[key] = below.get(key, True) and token in soft
        return stands_on

    def _spread(self, stands_on: Mapping[str, Mapping[str, bool]]) -> None:
        gone = {item.provides for item in self.removed.values()}
        come = {item.provides for item in self.made.values()}
        queue = list(gone | come)
        again = gone & come
        while queue:
            token = queue.pop()
            for key, rebinds in stands_on.get(token, {}).items():
                if key in self.removed or (rebinds and token not in again):
                    continue
                self.removed[key], self.made[key] = self.observed[key], self.target[key]
                self.changed.pop(key, None)
                moved = self.observed[key].provides
                if moved not in again:
                    again.add(moved)
                    queue.append(moved)

    def _pause(self, stands_on: Mapping[str, Mapping[str, bool]]) -> None:
        """Traffic stops where a change in place needs it or a guard is made anew, and on what is on that."""
        queue = [key for key, (before, after) in self.changed.items() if after.pauses(before)]
        keys = {item.provides: key for key, item in self.target.items()}
        for key in self.removed.keys() & self.made.keys():
            guarded = {*self.removed[key].guards(), *self.made[key].guards()}
            queue += [keys[token] for token in guarded if token in keys]
        while queue:
            key = queue.pop()
            if key in self.paused or key in self.made:
                continue
            before, after = self.observed[key], self.target[key]
            if before.carries and after.carries:
                self.paused[key] = (before, after)
                queue += stands_on.get(after.provides, ())
