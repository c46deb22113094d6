"""Changes and their order: a topological sort, by phase first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from planner.declared import PHASES, Declared, Phase
from planner.differences import Contradiction

T = TypeVar("T", bound=Declared)
Operation = Literal["create", "update", "delete"]


@dataclass(frozen=True)
class Change(Generic[T]):
    """Brings one object from ``before`` to ``after``; ``None`` means absent. Undo goes the other way."""

    phase: Phase
    before: T | None
    after: T | None

    @property
    def item(self) -> T:
        """The object after the change; for a removal, the object before it."""
        item = self.before if self.after is None else self.after
        assert item is not None
        return item

    @property
    def operation(self) -> Operation:
        """The kind of change to the object."""
        if self.before is None:
            return "create"
        return "delete" if self.after is None else "update"

    @property
    def summary(self) -> str:
        """One imperative line that says what the change does."""
        if self.before is None:
            return self.item.describe_create()
        return (
            f"remove {self.before.label()}" if self.after is None else self.after.describe_update(self.before)
        )

    @property
    def undo_summary(self) -> str:
        """One imperative line that says what undoing it does."""
        if self.before is None:
            return f"remove {self.item.label()}"
        return f"add {self.before.label()}" if self.after is None else self.after.describe_revert(self.before)

    @property
    def impact(self) -> str:
        """The effect on traffic."""
        if self.before is None:
            return "none"
        return self.before.removal_impact() if self.after is None else self.after.update_impact(self.before)


@dataclass(eq=False, slots=True)
class Node(Generic[T]):
    """A change in the graph. ``place`` orders it among the changes that could also come next."""

    phase: int
    place: tuple[int, ...]
    before: T | None
    after: T | None
    waits_for: int = 0
    then: list[Node[T]] = field(default_factory=list)

    def precedes(self, later: Node[T]) -> None:
        """This one comes first."""
        self.then.append(later)
        later.waits_for += 1


def ordered(nodes: Sequence[Node[T]]) -> Iterator[Change[T]]:
    """The changes in an order in which each comes after those that precede it, and no phase after a later
    one.

    A change whose phase is already over when its turn comes joins the later phase. n log n.
    Raises :class:`Contradiction` when changes wait for each other.
    """
    ready = [(node.phase, node.place, number) for number, node in enumerate(nodes) if not node.waits_for]
    numbers = {id(node): number for number, node in enumerate(nodes)}
    heapq.heapify(ready)
    done = 0
    while ready:
        phase, _, number = heapq.heappop(ready)
        node = nodes[number]
        done += 1
        yield Change(PHASES[phase], node.before, node.after)
        for later in node.then:
            later.phase = max(later.phase, phase)
            later.waits_for -= 1
            if not later.waits_for:
                heapq.heappush(ready, (later.phase, later.place, numbers[id(later)]))
    if done < len(nodes):
        stuck = next(node for node in nodes if node.waits_for)
        item = stuck.before if stuck.after is None else stuck.after
        raise Contradiction(f"{item.label() if item else 'an object'} and what it needs wait for each other")
