"""Reading the members of a large JSON object one by one, without holding all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,]*")
_KEY = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*')


def members(pieces: Iterator[str], inside: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """The members of the object in ``pieces``, in order; an object named in ``inside`` is replaced by its
    members.

    Ends without an error at the end of the object, and where the text is not JSON: FRR answers in words when
    a protocol does not run.
    """
    reader = _Reader(pieces)
    if not reader.opens("{"):
        return
    yield from _object(reader, frozenset(inside))


def _object(reader: _Reader, inside: frozenset[str]) -> Iterator[tuple[str, Any]]:
    while True:
        key = reader.key()
        if key is None:
            return
        if key in inside and reader.opens("{"):
            for name in iter(reader.key, None):
                found, value = reader.value()
                if not found:
                    return
                yield name, value
            continue
        found, value = reader.value()
        if not found:
            return
        if not inside:
            yield key, value


class _Reader:
    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._text = ""
        self._at = 0

    def opens(self, bracket: str) -> bool:
        """True where the next character is this bracket, which is then consumed."""
        if self._next() != bracket:
            return False
        self._at += 1
        return True

    def key(self) -> str | None:
        """The next key; None at the end of the object, whose closing brace is then consumed."""
        while True:
            following = self._next()
            if following != '"':
                self._at += 1
                return None
            match = _KEY.match(self._text, self._at)
            # The value may begin in the next piece; a key is complete once its colon and what follows have
            # arrived.
            if match is not None and match.end() < len(self._text):
                self._at = match.end()
                return str(json.loads(f'"{match[1]}"'))
            if not self._more():
                return None

    def value(self) -> tuple[bool, Any]:
        """Whether there is one, and the next value."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                if not self._more():
                    return False, None
                continue
            if end == len(self._text) and self._more():
                continue  # a number may go on
            self._at = end
            return True, value

    def _next(self) -> str:
        """The next character that is neither space nor comma; empty at the end."""
        while True:
            match = _BETWEEN.match(self._text, self._at)
            self._at = self._at if match is None else match.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        piece = next(self._pieces, None)
        if piece is None:
            return False
        self._text = self._text[self._at :] + piece
        self._at = 0
        return True
