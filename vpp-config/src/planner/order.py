"""Changes and the order among them: a topological sort, by phase first."""

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
    """Brings one object from ``before`` to ``after``; ``None`` is absence. Undoing it goes the other way."""

    phase: Phase
    before: T | None
    after: T | None

    @property
    def item(self) -> T:
        """The object as it will be; as it was where it is removed."""
        item = self.before if self.after is None else self.after
        assert item is not None
        return item

    @property
    def operation(self) -> Operation:
        """What happens to the object."""
        if self.before is None:
            return "create"
        return "delete" if self.after is None else "update"

    @property
    def summary(self) -> str:
        """What it does: one line, imperative."""
        if self.before is None:
            return self.item.describe_create()
        return (
            f"remove {self.before.label()}" if self.after is None else self.after.describe_update(self.before)
        )

    @property
    def undo_summary(self) -> str:
        """What undoing it does: one line, imperative."""
        if self.before is None:
            return f"remove {self.item.label()}"
        return f"add {self.before.label()}" if self.after is None else self.after.describe_revert(self.before)

    @property
    def impact(self) -> str:
        """What traffic notices."""
        if self.before is None:
            return "none"
        return self.before.removal_impact() if self.after is None else self.after.update_impact(self.before)


@dataclass(eq=False, slots=True)
class Node(Generic[T]):
    """A change in the graph. ``place`` orders it among those that could come next as well."""

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
    """The changes so that each comes after those that precede it, and no phase after a later one.

    A change whose phase is over when its turn comes joins the later phase. n log n.
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
