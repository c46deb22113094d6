"""Objects of made-up kinds, and a world that refuses what no system could do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from planner import Change, Declared, changes


@dataclass(frozen=True)
class Toy(Declared):
    """Whatever its fields declare. ``form`` changes in place, ``make`` only by making it anew."""

    name: str
    needs: tuple[str, ...] = ()
    swaps: tuple[str, ...] = ()
    """More needs, exchanged in place."""
    after: tuple[str, ...] = ()
    form: int = 0
    make: int = 0

    @property
    def key(self) -> str:
        return f"{type(self).__name__.lower()}/{self.name}"

    @property
    def provides(self) -> str:
        return self.name

    def label(self) -> str:
        return f"{type(self).__name__.lower()} {self.name}"

    def requires(self) -> tuple[str, ...]:
        return self.needs + self.swaps

    def rebinds(self) -> tuple[str, ...]:
        return self.swaps

    def follows(self, beside: Mapping[str, Declared]) -> tuple[str, ...]:
        return self.after

    def needs_recreate(self, before: Self) -> bool:
        return self.make != before.make


@dataclass(frozen=True)
class Canal(Toy):
    """Carries water while it is open; may lie inside a wider one that is open, too."""

    outer: str = ""
    width: int = 10
    open: bool = True
    dry_change: bool = False
    """Whether ``form`` changes only while no water passes."""

    def inside(self) -> str | None:
        return self.outer or None

    def requires(self) -> tuple[str, ...]:
        return (*super().requires(), *((self.outer,) if self.outer else ()))

    @property
    def carries(self) -> bool:
        return self.open

    def quiet(self) -> Self:
        return replace(self, open=False)

    def needs_recreate(self, before: Self) -> bool:
        return super().needs_recreate(before) or self.outer != before.outer

    def pauses(self, before: Self) -> bool:
        return self.dry_change and self.form != before.form

    def shrinks(self, before: Self) -> bool:
        return self.width < before.width

    def resolve(self, seen: Self | None, beside: Mapping[str, Declared]) -> Self:
        outer = beside.get(self.outer)
        while outer is not None:
            if not outer.carries:
                return self.quiet()
            outer = beside.get(outer.inside() or "")
        return self

    def problems(self, beside: Mapping[str, Declared]) -> Iterable[str]:
        outer = beside.get(self.outer)
        if isinstance(outer, Canal) and outer.width < self.width:
            yield f"{self.label()} is wider than {outer.label()}"


@dataclass(frozen=True)
class Sluice(Toy):
    """Stands in a canal's water: the canal is open only with it."""

    up_phase = "attach"
    down_phase = "detach"

    canal: str = ""

    def requires(self) -> tuple[str, ...]:
        return (self.canal, *super().requires())

    def guards(self) -> tuple[str, ...]:
        return (self.canal,)


class Bridge(Toy):
    """Stands on whatever it needs."""


class Bolt(Toy):
    """What others hold on to."""


KINDS = (Bolt, Canal, Bridge, Sluice)


def state(*items: Toy) -> dict[str, Toy]:
    """The items by key."""
    return {item.key: item for item in items}


def plan(desired: Mapping[str, Toy], observed: Mapping[str, Toy]) -> list[Change[Toy]]:
    """As a data plane plans."""
    return changes(desired, observed, KINDS)


def shown(plan: Iterable[Change[Toy]]) -> list[str]:
    """A line for each change."""
    return [f"{change.phase}: {change.operation} {change.item.name}{_water(change)}" for change in plan]


def _water(change: Change[Toy]) -> str:
    if change.before is None or change.after is None or change.before.carries == change.after.carries:
        return ""
    return " open" if change.after.carries else " shut"


class World:
    """Holds toys, takes changes one by one, and asserts after each that it could be so."""

    def __init__(self, held: Mapping[str, Toy], wanted: Mapping[str, Toy]) -> None:
        self.held = dict(held)
        self._wanted = wanted
        self._before = dict(held)
        self._flowing = {item.name for item in held.values() if item.carries}
        """Canals that water passed at the start and has not ceased to."""
        self._will_shut: set[str] = set()

    def run(self, plan: Iterable[Change[Toy]]) -> None:
        """Apply the whole plan."""
        self._go([(change.before, change.after) for change in plan])

    def undo(self, plan: Sequence[Change[Toy]]) -> None:
        """Take the whole plan back, in a world that stands where the plan led."""
        self._go([(change.after, change.before) for change in reversed(plan)])

    def _go(self, moves: list[tuple[Toy | None, Toy | None]]) -> None:
        self._will_shut = {
            before.name
            for before, after in moves
            if before is not None and before.carries and not (after is not None and after.carries)
        }
        for before, after in moves:
            self.move(before, after)

    def move(self, before: Toy | None, after: Toy | None) -> None:
        """One change."""
        item = after if after is not None else before
        assert item is not None
        assert self.held.get(item.key) == before
        if before is not None and after is not None:
            assert not after.needs_recreate(before)
            assert not (after.pauses(before) and (before.carries or after.carries))
        if after is None:
            del self.held[item.key]
        else:
            self.held[item.key] = after
        self._flowing -= {name for name in self._flowing if not self._open(name)}
        self._check()

    def _open(self, name: str) -> bool:
        return any(item.name == name and item.carries for item in self.held.values())

    def _check(self) -> None:
        by_name = {item.name: item for item in self.held.values()}
        assert len(by_name) == len(self.held)
        for item in self.held.values():
            for token in item.requires():
                assert token in by_name, f"{item.label()} without {token}"
            for problem in item.problems(by_name):
                raise AssertionError(problem)
            outer = by_name.get(item.inside() or "")
            assert outer is None or outer.carries or not item.carries, f"{item.label()} open in a shut one"
            if item.carries:
                for guard in self._guards(item.name):
                    assert guard in self.held, f"{item.label()} is open without {guard}"

    def _guards(self, name: str) -> set[str]:
        """What has to be in place while water passes this canal."""
        old = {key for key, item in self._before.items() if name in item.guards()}
        new = {key for key, item in self._wanted.items() if name in item.guards()}
        if name not in self._flowing:
            return new
        return old if name in self._will_shut else old & new
