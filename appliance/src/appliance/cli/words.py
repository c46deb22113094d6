"""From words to places and values in the document, by the schema."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from appliance.cli.errors import CommandError
from appliance.config import schema
from appliance.config.pointer import join, resolve
from appliance.errors import NotFound

JsonSchema = dict[str, Any]
TRUE = ("true", "yes", "on", "enable", "enabled")
FALSE = ("false", "no", "off", "disable", "disabled")


def split_line(line: str) -> list[str]:
    """The words of a line. Quoted text is one word, and ``|`` and ``;`` are words of their own."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;")
    lexer.whitespace_split = True
    lexer.commenters = "#" if line.lstrip().startswith("#") else ""
    try:
        return list(lexer)
    except ValueError as error:
        raise CommandError(f"the line cannot be read: {str(error).lower()}") from None


@dataclass(frozen=True)
class Place:
    """A place in the document, and its schema."""

    tokens: tuple[str, ...]
    node: JsonSchema

    @property
    def pointer(self) -> str:
        """As a JSON pointer."""
        return join(self.tokens)

    @property
    def is_object(self) -> bool:
        """Whether it has settings or named entries below it."""
        return self.node.get("type") == "object"

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return self.node.get("type") == "array"


def place(tokens: tuple[str, ...], document: Any) -> Place:
    """The place at these tokens. Raises CommandError."""
    try:
        return Place(tokens, schema.at(join(tokens), document))
    except NotFound:
        raise CommandError(f"there is no setting {' '.join(tokens)}") from None


def value_at(document: Any, pointer: str) -> Any:
    """The value there, or None."""
    try:
        return resolve(document, pointer)
    except NotFound:
        return None


@dataclass(frozen=True)
class Assignment:
    """Set ``pointer`` to ``value``; ``append`` adds it to a list instead."""

    pointer: str
    value: Any
    append: bool = False


def assignments(base: tuple[str, ...], words: list[str], document: Any) -> Iterator[Assignment]:
    """What ``set WORDS`` means below ``base``: a path, then ``setting value`` once or more.

    Raises CommandError for an unknown setting, and for a value that is not of the setting's type.
    """
    where = place(base, document)
    remaining = list(words)
    if not remaining:
        raise CommandError("set what?")
    while remaining:
        if where.is_object:
            word = remaining.pop(0)
            entered = _enter(where, word, document)
            if entered.is_object and (not remaining or not _knows(entered, remaining[0])):
                if remaining:
                    raise CommandError(f"{' '.join(entered.tokens)} has no setting {remaining[0]}")
                if value_at(document, entered.pointer) is None:
                    yield Assignment(entered.pointer, {})
                return
            if entered.is_object:
                where = entered
                continue
            yield from _leaf(entered, remaining, document)
            if remaining and not _knows(where, remaining[0]):
                raise CommandError(f"{remaining[0]!r} is not expected after {word}")
            continue
        yield from _leaf(where, remaining, document)
        if remaining:
            raise CommandError(f"{remaining[0]!r} is not expected here")


def _enter(where: Place, word: str, document: Any) -> Place:
    return place((*where.tokens, word), document)


def _knows(where: Place, word: str) -> bool:
    return word in where.node.get("properties", {}) or schema.entry_of(where.node) is not None


def _leaf(where: Place, remaining: list[str], document: Any) -> Iterator[Assignment]:
    name = where.tokens[-1]
    if where.is_list:
        yield from _element(where, remaining, document)
        return
    if not remaining:
        raise CommandError(f"{name} needs a value")
    yield Assignment(where.pointer, value(where.node, remaining.pop(0), name))


def _element(where: Place, remaining: list[str], document: Any) -> Iterator[Assignment]:
    """One element of a list: a value, or ``setting value`` pairs in a list of objects."""
    name = where.tokens[-1]
    item = schema.resolved(where.node["items"])
    if not remaining:
        raise CommandError(f"{name} needs a value")
    if item.get("type") != "object":
        at = _position(where, remaining, document)
        pointer = join((*where.tokens, str(at))) if at is not None else where.pointer
        yield Assignment(pointer, value(item, remaining.pop(0), name), append=at is None)
        return
    if remaining[0].isdecimal():
        index = remaining.pop(0)
        yield from assignments((*where.tokens, index), list(remaining), document)
        remaining.clear()
        return
    element: dict[str, Any] = {}
    while remaining and remaining[0] in item["properties"]:
        setting = remaining.pop(0)
        if not remaining:
            raise CommandError(f"{setting} needs a value")
        element[setting] = value(schema.resolved(item["properties"][setting]), remaining.pop(0), setting)
    if not element:
        known = ", ".join(item["properties"])
        raise CommandError(f"{name} has elements with {known}; {remaining[0]!r} is none of these")
    yield Assignment(where.pointer, element, append=True)


def _position(where: Place, remaining: list[str], document: Any) -> int | None:
    """Removes and returns the position in ``POSITION VALUE``, by which a list can hold a value twice.

    None if there is only a value.
    """
    if len(remaining) < 2 or not remaining[0].isdecimal():
        return None
    if _knows(place(where.tokens[:-1], document), remaining[1]):
        return None
    known = len(value_at(document, where.pointer) or ())
    word = remaining.pop(0)
    if len(word) > 6 or int(word) > known:
        raise CommandError(f"{where.tokens[-1]} has {known} values: the next position is {known}, not {word}")
    return int(word) if known else None


def value(node: JsonSchema, word: str, name: str) -> Any:
    """The word as a value of the type in the schema. Raises CommandError."""
    if "anyOf" in node:
        kinds = {choice.get("type") for choice in node["anyOf"]}
        return int(word) if "integer" in kinds and word.isdecimal() and len(word) < 20 else word
    choices = node.get("enum", [node["const"]] if "const" in node else [])
    for choice in choices:
        if str(choice) == word:
            return choice
    if choices:
        raise CommandError(f"{name} is one of {', '.join(str(choice) for choice in choices)}, not {word!r}")
    kind = node.get("type")
    if kind == "integer":
        try:
            return int(word) if len(word) < 20 else word
        except ValueError:
            # For example a dotted AS number: the document's own check accepts or refuses it.
            return word
    if kind == "boolean":
        if word in TRUE:
            return True
        if word in FALSE:
            return False
        raise CommandError(f"{name} is true or false, not {word!r}")
    return word
