"""A whole document as text, either the commands that make it or JSON, and the part that a page shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from appliance.config.set_commands import set_commands

_MOST_LINES = 2_000
_MOST_CHARACTERS = 400_000


@dataclass(frozen=True)
class Form:
    """A text form of a document."""

    name: str
    title: str
    ending: str
    media_type: str
    lines: Callable[[dict[str, Any]], Iterator[str]]


def _json_lines(document: dict[str, Any]) -> Iterator[str]:
    yield from json.dumps(document, indent=2, ensure_ascii=False).split("\n")


FORMS = (
    Form("set", "Set commands", "set", "text/plain; charset=utf-8", set_commands),
    Form("json", "JSON", "json", "application/json", _json_lines),
)


def form_of(name: str) -> Form:
    """The form with this name; the first one for any other name."""
    return next((form for form in FORMS if form.name == name), FORMS[0])


def whole(document: dict[str, Any], form: Form) -> bytes:
    """All of it, with a final line end."""
    return "".join(f"{line}\n" for line in form.lines(document)).encode()


@dataclass(frozen=True)
class Excerpt:
    """The first lines of a document, with their numbers, and how many it has."""

    text: str
    numbers: str
    shown: int
    total: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.shown == self.total


def excerpt(document: dict[str, Any], form: Form) -> Excerpt:
    """The part of the document that a page shows, in a single pass over the lines."""
    lines = form.lines(document)
    shown: list[str] = []
    characters = 0
    for line in islice(lines, _MOST_LINES):
        shown.append(line)
        characters += len(line) + 1
        if characters > _MOST_CHARACTERS:
            break
    total = len(shown) + sum(1 for _ in lines)
    numbers = "\n".join(map(str, range(1, len(shown) + 1)))
    return Excerpt("\n".join(shown), numbers, len(shown), total)
