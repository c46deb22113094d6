"""The document as the commands that make it, for ``set`` of the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./*$~-]+")
"""A word that needs no quotes on a command line."""


def set_commands(value: Any, at: Sequence[str] = ()) -> Iterator[str]:
    """A ``set`` command for each setting of a canonical form, or of its part at `at`, in its order.

    ``schema_version`` is left out, as the command line writes only the current one. Secrets stay as given.
    """
    whole = not at and isinstance(value, Mapping)
    shown = {key: below for key, below in value.items() if key != "schema_version"} if whole else value
    if shown or not whole:
        yield from _settings(["set", *map(word, at)], shown)


def _settings(path: list[str], value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if not value:
            yield " ".join(path)
        for key, below in value.items():
            yield from _settings([*path, word(key)], below)
    elif isinstance(value, (list, tuple)):
        seen: set[str] = set()
        for index, element in enumerate(value):
            text = "" if isinstance(element, Mapping) else word(element)
            yield from _element(path, index, element, again=text in seen)
            seen.update([text] if text else [])
    else:
        yield " ".join([*path, word(value)])


def _element(path: list[str], index: int, element: Any, again: bool) -> Iterator[str]:
    """An element of a list: its plain settings on one line, which appends it; deeper ones by its index.

    A value that occurs earlier in the list is written with its position.
    """
    if not isinstance(element, Mapping):
        yield " ".join([*path, *([str(index)] if again else []), word(element)])
        return
    plain = {key: value for key, value in element.items() if not isinstance(value, (Mapping, list, tuple))}
    if plain:
        yield " ".join([*path, *(word(text) for pair in plain.items() for text in pair)])
    for key, value in element.items():
        if key not in plain:
            yield from _settings([*path, str(index), word(key)], value)


def word(value: Any) -> str:
    """A name or a value as one word of a command, in quotes where it needs them."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    text = str(value)
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
