"""The page of one object: its settings in words, live values, other features' panels, and the places that
use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.config import schema
from appliance.config.schema import JsonSchema, refers_to
from appliance.config.vrf_view import view_of
from appliance.errors import NotFound
from webui.ui.candidate import Candidate
from webui.ui.page import look
from webui.ui.pages import PANELS
from webui.ui.pointers import MISSING, get, join, last, parent
from webui.ui.setting_words import words_of
from webui.ui.tables.cells import by_address, last_word, linked
from webui.ui.tables.declaration import Link, Panel
from webui.ui.tables.row import Row

_LINES = 60
"""The most lines shown of one setting; a longer list says how many more there are."""


@dataclass(frozen=True)
class Setting:
    """A setting with its title; lines are texts or links."""

    title: str
    lines: tuple[Any, ...]


@dataclass(frozen=True)
class ShownPanel:
    """Another feature's table about the object."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    empty: str
    wide: bool


def row_at(candidate: Candidate, pointer: str, state: Any = None) -> Row | None:
    """The object at the pointer, from the candidate or the running document; None where it is in neither."""
    settings = get(candidate.document, pointer)
    if settings is MISSING:
        settings = get(candidate.running, pointer)
    if settings is MISSING:
        return None if state is None else Row(last(pointer), pointer, {}, state, candidate, configured=False)
    return Row(last(pointer), pointer, settings, state, candidate)


def facts_of(row: Row) -> list[Setting]:
    """Every setting that is set, with its title in the schema. Of a secret only the fact that it is set
    is shown.
    """
    mapping = parent(row.pointer)
    return [
        fact
        for name, value in row.settings.items()
        for fact in _facts(row, f"{mapping}{join('')}{join(name)}", value, "")
    ]


def _facts(row: Row, pointer: str, value: Any, around: str) -> Iterator[Setting]:
    node = _schema_at(pointer)
    title = around + str(node.get("title") or last_word(last(pointer)))
    if node.get("writeOnly"):
        yield Setting(title, ("set",))
    elif isinstance(value, Mapping) and node.get("properties"):
        for name, below in value.items():
            yield from _facts(row, pointer + join(name), below, f"{title}: ")
        if not value:
            yield Setting(title, ("all defaults",))
    else:
        lines = list(_lines(row, value, refers_to(node, pointer)))
        more = len(lines) - _LINES
        yield Setting(title, (*lines[:_LINES], *((f"and {more} more",) if more > 0 else ())))


def _lines(row: Row, value: Any, target: str) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for name in sorted(value, key=by_address):
            yield f"{name} {_words(value[name])}".strip()
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _lines(row, one, target) if not isinstance(one, Mapping) else (_words(one),)
    elif target:
        yield linked(row, target, str(value))
    else:
        yield _words(value)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        # A rule begins with what it does, as in its list.
        return ", ".join(
            _words(below) if name == "action" else f"{name.replace('_', ' ')} {_words(below)}".strip()
            for name, below in value.items()
        )
    if isinstance(value, (list, tuple)):
        return " ".join(_words(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _schema_at(pointer: str) -> JsonSchema:
    try:
        return schema.at(pointer)
    except NotFound:
        return {}


def panels_of(row: Row) -> list[ShownPanel]:
    """Other features' panels about the object."""
    mapping = view_of(parent(row.pointer))[1]
    return [_shown(panel, row) for panel in PANELS if panel.mapping == mapping and panel.when(row)]


def _shown(panel: Panel, row: Row) -> ShownPanel:
    found = look(lambda: tuple(panel.rows(row)), ())
    return ShownPanel(
        panel.title,
        tuple(title for title, _ in panel.columns),
        tuple(tuple(value(one) for _, value in panel.columns) for one in found.value),
        f"Not known: {found.failure}" if found.failed else panel.empty,
        panel.wide,
    )


def users_of(row: Row) -> list[Link]:
    """The places that name the object, each with the object that contains it."""
    return [Link(words_of(place), place) for place in row.used_by]
