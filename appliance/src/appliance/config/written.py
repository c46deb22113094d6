"""Canonical JSON text of a document's parts, rewritten only where they changed."""

from __future__ import annotations

import json
import marshal
from collections.abc import Collection, Iterator, Mapping, Sequence
from json.encoder import encode_basestring_ascii
from typing import Any

Part = tuple[str, ...]
"""A top-level field of the document, or a field of ``routing``."""
_Path = tuple[str, ...]
"""Keys from a part to a map in it."""
_Entries = dict[str, tuple[Any, str]]
"""By key, in the order of the text: what is there, and its text with the key before it."""

_MANY = 64
"""From this many entries on, the texts of a map's entries are remembered one by one."""
_DEPTH = 3
"""How deep in a part maps are searched for; a list's rules are at 2."""
_BETWEEN = "\x1fbetween two entries\x1f"


def json_text(value: Any) -> str:
    """JSON text with sorted keys. Raises TypeError, ValueError or RecursionError for anything but JSON."""
    return json.dumps(value, sort_keys=True)


class Written:
    """The parts of a document that were written last. An unchanged part is not written again.

    Documents share unchanged parts, and nothing in a document is changed in place: an entry of a large map
    that is the same object as before has the same text as before. A part that shares little is packed and
    compared: that costs a quarter of writing it, since keys are not sorted and nothing is escaped.
    """

    def __init__(self) -> None:
        self._last: dict[Part, tuple[bytes, str]] = {}
        self._entries: dict[Part, dict[_Path, _Entries]] = {}

    def text(self, part: Part, value: Any) -> str:
        """Its text. Raises as ``json_text``."""
        known, maps = self._entries.get(part, {}), dict(_large_maps(value))
        fresh = {path: _fresh(entries, known.get(path, {})) for path, entries in maps.items()}
        packed = None
        if 2 * sum(map(len, fresh.values())) >= sum(map(len, maps.values())):
            packed, last = _packed(value), self._last.get(part)
            if last is not None and last[0] == packed:
                return last[1]
        found = {path: _written(entries, known.get(path, {}), fresh[path]) for path, entries in maps.items()}
        text = _Composed(found).text(value)
        if packed is not None:
            self._last[part] = (packed, text)
        self._entries[part] = found
        return text

    def keep(self, parts: Collection[Part]) -> None:
        """Forget all other parts, so that no more than one document is remembered."""
        self._last = {part: known for part, known in self._last.items() if part in parts}
        self._entries = {part: known for part, known in self._entries.items() if part in parts}


def _packed(value: Any) -> bytes | None:
    """Equal only for values of equal types; None for anything but plain JSON.

    The second version of the format says what a value holds, and not which of its objects are shared.
    """
    try:
        return marshal.dumps(value, 2)
    except ValueError:
        return None


def _large_maps(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, dict[str, Any]]]:
    """The outermost ones, with where they are."""
    # JSON makes texts of other keys, after sorting them.
    if type(value) is not dict or set(map(type, value)) != {str}:
        return
    if len(value) >= _MANY:
        yield path, value
    elif len(path) < _DEPTH:
        for key, one in value.items():
            yield from _large_maps(one, (*path, key))


def _fresh(entries: Mapping[str, Any], known: _Entries) -> list[str]:
    """The keys of entries that are not known unchanged."""
    return [key for key, one in entries.items() if key not in known or known[key][0] is not one]


def _written(entries: Mapping[str, Any], known: _Entries, fresh: Sequence[str]) -> _Entries:
    made = dict(zip(fresh, _texts([entries[key] for key in fresh]), strict=True)) if fresh else {}
    new = {key: (entries[key], f"{encode_basestring_ascii(key)}: {text}") for key, text in made.items()}
    if known.keys() == entries.keys():
        # Already in order.
        return {**known, **new}
    return {key: new[key] if key in new else known[key] for key in sorted(entries)}


def _texts(values: Sequence[Any]) -> list[str]:
    """The text of each, written in one go: the encoder takes longer to begin than to write an entry."""
    between: list[Any] = [_BETWEEN] * (2 * len(values) - 1)
    between[::2] = values
    texts = json_text(between)[1:-1].split(f", {json_text(_BETWEEN)}, ")
    # A text of the document may contain the mark.
    return texts if len(texts) == len(values) else [json_text(one) for one in values]


class _Composed:
    """Text of a value whose large maps are written."""

    def __init__(self, maps: Mapping[_Path, _Entries]) -> None:
        self._maps = maps
        self._above = {path[:depth] for path in maps for depth in range(len(path))}

    def text(self, value: Any, path: _Path = ()) -> str:
        """The same as ``json_text``."""
        if path in self._maps:
            pieces = [piece for _, piece in self._maps[path].values()]
        elif path in self._above:
            pieces = [
                f"{encode_basestring_ascii(key)}: {self.text(value[key], (*path, key))}"
                for key in sorted(value)
            ]
        else:
            return json_text(value)
        return "{" + ", ".join(pieces) + "}"
