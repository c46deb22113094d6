"""Objects of made-up kinds, and a world that refuses what no system could do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from planner import Change, Declared, changes


@dataclass(frozen=True)
class Toy(Declared):
    """Declares whatever its fields say. ``form`` changes in place, ``make`` only by recreating it."""

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


class Planned(Protocol):
    """A change, or a step of a data plane."""

    @property
    def before(self) -> Any:
        """What is there before it."""

    @property
    def after(self) -> Any:
        """What is there after it."""


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
    """Holds objects, takes changes one by one, and asserts after each that it could be so.

    ``inner_waits``: nothing is open inside of something that is shut.
    """

    def __init__(
        self, held: Mapping[str, Declared], wanted: Mapping[str, Declared], *, inner_waits: bool = True
    ) -> None:
        self.held: dict[str, Declared] = dict(held)
        self._inner_waits = inner_waits
        self._guards_before, self._guards_wanted = _guards(held), _guards(wanted)
        self._flowing = {item.provides for item in held.values() if item.carries}
        """What traffic passed at the start and has not ceased to."""
        self._will_shut: set[str] = set()

    def run(self, plan: Iterable[Planned]) -> None:
        """Apply the whole plan."""
        self._go([(change.before, change.after) for change in plan])

    def undo(self, plan: Sequence[Planned]) -> None:
        """Take the whole plan back, in a world that stands where the plan led."""
        self._go([(change.after, change.before) for change in reversed(plan)])

    def _go(self, moves: list[tuple[Declared | None, Declared | None]]) -> None:
        self._will_shut = {
            before.provides
            for before, after in moves
            if before is not None and before.carries and not (after is not None and after.carries)
        }
        for before, after in moves:
            self._move(before, after)

    def _move(self, before: Declared | None, after: Declared | None) -> None:
        item = after if after is not None else before
        assert item is not None
        assert self.held.get(item.key) == before
        if before is not None and after is not None:
            assert not after.needs_recreate(before)
            assert not (after.pauses(before) and (before.carries or after.carries))
        if after is None:
            del self.held[item.key]
            self._flowing.discard(item.provides)
        else:
            self.held[item.key] = after
            if not after.carries:
                self._flowing.discard(item.provides)
        self._check()

    def _check(self) -> None:
        beside = {item.provides: item for item in self.held.values()}
        assert len(beside) == len(self.held)
        for item in self.held.values():
            for token in item.requires():
                assert token in beside, f"{item.label()} without {token}"
            for problem in item.problems(beside):
                raise AssertionError(problem)
            outer = beside.get(item.inside() or "")
            if self._inner_waits and outer is not None and item.carries:
                assert outer.carries, f"{item.label()} is open in a shut one"
            if item.carries:
                for guard in self._needed(item.provides):
                    assert guard in self.held, f"{item.label()} is open without {guard}"

    def _needed(self, token: str) -> set[str]:
        """The guards that have to be in place while traffic passes this."""
        old, new = self._guards_before.get(token, set()), self._guards_wanted.get(token, set())
        if token not in self._flowing:
            return new
        return old if token in self._will_shut else old & new


def _guards(state: Mapping[str, Declared]) -> dict[str, set[str]]:
    """Token -> the keys of what guards it."""
    guards: dict[str, set[str]] = {}
    for key, item in state.items():
        for token in item.guards():
            guards.setdefault(token, set()).add(key)
    return guards
