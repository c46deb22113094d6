"""Problems of a document in the words of its pages: fields by their titles, at the object that was changed.

A message names a field as the API does, ``icmp_code needs icmp_type``, for who writes a JSON document. Forms
show titles instead.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any

from appliance.config import schema
from appliance.config.pointer import join, split
from appliance.errors import NotFound, Problem
from webui.ui.objects import object_of
from webui.ui.pointers import last
from webui.ui.setting_words import words_of

_FIELD = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")


def said(problem: Problem) -> str:
    """The message with fields by their titles, in quotes."""
    return _FIELD.sub(lambda found: _title(problem.pointer, found[0]), problem.message)


def said_with_place(problem: Problem) -> str:
    """``interface lan0, MTU: must be at most 9216``."""
    return f"{words_of(problem.pointer)}: {said(problem)}" if problem.pointer else said(problem)


def at_the_change(problem: Problem, changed: Collection[str]) -> Problem:
    """The problem at the object that was changed.

    What is wrong between two objects, such as networks that overlap, a check finds at either of them. Where
    that one was left alone, and the message names one of those at the pointers ``changed``, it is put there.
    """
    if not problem.pointer or object_of(problem.pointer) in changed:
        return problem
    named = [one for one in changed if _names(problem.message, last(one))]
    return Problem(named[0], said_with_place(problem)) if len(named) == 1 else problem


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.:/-]){re.escape(name)}(?![\w:/-]|\.\w)", text) is not None


def _title(pointer: str, name: str) -> str:
    tokens = split(pointer) if pointer else []
    for size in range(len(tokens), -1, -1):
        try:
            field = schema.at(join(tokens[:size])).get("properties", {}).get(name)
        except NotFound:
            continue
        if field is not None and field.get("title"):
            return f"“{field['title']}”"
    title = _titles().get(name)
    return f"“{title}”" if title else name


@cache
def _titles() -> Mapping[str, str]:
    """Titles of all fields by name, the first of each."""
    found: dict[str, str] = {}
    for name, title in _fields_below(schema.json_schema()):
        found.setdefault(name, title)
    return found


def _fields_below(node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            for name, field in properties.items():
                if isinstance(field, Mapping) and isinstance(field.get("title"), str):
                    yield name, field["title"]
        for below in node.values():
            yield from _fields_below(below)
    elif isinstance(node, list):
        for below in node:
            yield from _fields_below(below)
