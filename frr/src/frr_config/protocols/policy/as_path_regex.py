"""Regular expressions over AS paths, matched in time that grows only with the length of the path.

The path comes from a neighbor and the expression from the document. A matcher that tries one alternative
after another could run practically forever on a bad combination. This one keeps the set of states it may be
in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_BOUNDARY = frozenset(",{}() ")
"""The characters that ``_`` matches, besides the two ends of the path."""
_KEPT_MOVES = 2000


@dataclass(frozen=True, slots=True)
class _State:
    """A transition: its condition and its target; without ``on`` and ``at`` it is always taken."""

    then: tuple[int, ...]
    on: frozenset[str] | None = None
    excluded: bool = False
    at: str = ""
    """``^`` or ``$``: taken only at this end of the path."""


class AsPathRegex:
    """A compiled expression. Raises ValueError for an expression that this matcher does not support."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._states: list[_State] = []
        self._final = self._add(_State(()))
        self._first = self._alternatives(self._final)
        if self._at != len(text):
            raise ValueError(f"{text}: a bracket is closed that was not opened")
        self._moves: dict[tuple[frozenset[int], str, bool], frozenset[int]] = {}

    def matches(self, path: str) -> bool:
        """Whether it matches anywhere in the path, written as FRR prints it: empty for the router's own
        route.
        """
        now = self._reached((self._first,), is_start=True, is_end=not path)
        for at, character in enumerate(path):
            if self._final in now:
                return True
            now = self._moved(now, character, at + 1 == len(path))
        return self._final in now

    def _moved(self, states: frozenset[int], character: str, is_end: bool) -> frozenset[int]:
        key = (states, character, is_end)
        if (known := self._moves.get(key)) is not None:
            return known
        after = [self._first]  # a match may begin anywhere
        for at in states:
            state = self._states[at]
            if state.on is not None and (character in state.on) != state.excluded:
                after += state.then
        if len(self._moves) >= _KEPT_MOVES:
            self._moves.clear()
        moved = self._moves[key] = self._reached(after, is_start=False, is_end=is_end)
        return moved

    def _reached(self, states: Iterable[int], *, is_start: bool, is_end: bool) -> frozenset[int]:
        """These states, and all that they reach by unconditional transitions."""
        found: set[int] = set()
        waiting = list(states)
        while waiting:
            at = waiting.pop()
            if at in found:
                continue
            found.add(at)
            state = self._states[at]
            if state.on is None and (not state.at or (is_start if state.at == "^" else is_end)):
                waiting += state.then
        return frozenset(found)

    # The parser. Each method receives the state that follows it, and returns the state where it begins.

    def _add(self, state: _State) -> int:
        self._states.append(state)
        return len(self._states) - 1

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        self._at += 1
        return self._text[self._at - 1]

    def _alternatives(self, then: int) -> int:
        first = [self._sequence(then)]
        while self._next() == "|":
            self._take()
            first.append(self._sequence(then))
        return first[0] if len(first) == 1 else self._add(_State(tuple(first)))

    def _sequence(self, then: int) -> int:
        """The items are built from last to first, because each needs the one that follows it."""
        spans = []
        while self._next() not in ("", "|", ")"):
            begun = self._at
            self._skip_atom()
            atom_end = self._at
            repeats = ""
            while self._next() in ("*", "+", "?") and self._next():
                repeats += self._take()
            spans.append((begun, atom_end, repeats))
        end = self._at
        for begun, atom_end, repeats in reversed(spans):
            then = self._item(begun, atom_end, repeats, then)
        self._at = end
        return then

    def _item(self, begun: int, end: int, repeats: str, then: int) -> int:
        if len(repeats) > 1:
            raise ValueError(f"{self._text}: {repeats} repeats a repetition")
        if repeats in ("*", "+"):
            again = self._add(_State(()))
            first = self._atom(begun, end, again)
            self._states[again] = _State((first, then))
            return again if repeats == "*" else first
        first = self._atom(begun, end, then)
        return self._add(_State((first, then))) if repeats == "?" else first

    def _skip_atom(self) -> None:
        character = self._take()
        if character == "[":
            self._read_class()
        elif character == "(":
            depth = 1
            while depth:
                if not self._next():
                    raise ValueError(f"{self._text}: a bracket is not closed")
                inner = self._take()
                if inner == "[":
                    self._read_class()
                depth += {"(": 1, ")": -1}.get(inner, 0)
        elif character in "*+?]":
            raise ValueError(f"{self._text}: {character} has nothing before it")

    def _atom(self, begun: int, end: int, then: int) -> int:
        self._at = begun
        character = self._take()
        if character == "(":
            first = self._alternatives(then)
            assert self._at == end - 1
            return first
        if character == "[":
            characters, excluded = self._read_class()
            return self._add(_State((then,), on=characters, excluded=excluded))
        if character in "^$":
            return self._add(_State((then,), at=character))
        if character == "_":
            ends = [self._add(_State((then,), at=at)) for at in "^$"]
            return self._add(_State((self._add(_State((then,), on=_BOUNDARY)), *ends)))
        if character == ".":
            return self._add(_State((then,), on=frozenset(), excluded=True))
        return self._add(_State((then,), on=frozenset(character)))

    def _read_class(self) -> tuple[frozenset[str], bool]:
        """The part after the opening bracket. FRR replaces ``_`` inside brackets too, where the result
        has another meaning.
        """
        excluded = self._next() == "^"
        end = self._text.find("]", self._at + excluded + 1)
        inside = self._text[self._at + excluded : end]
        if end < 0 or "_" in inside or "[" in inside:
            raise ValueError(f"{self._text}: this class is not known here")
        self._at = end + 1
        characters: set[str] = set()
        at = 0
        while at < len(inside):
            if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
                characters.update(map(chr, range(ord(inside[at]), ord(inside[at + 2]) + 1)))
                at += 3
            else:
                characters.add(inside[at])
                at += 1
        return frozenset(characters), excluded
