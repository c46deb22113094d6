"""A feature's declaration of its page: the tables and their columns. The generic code knows no feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from appliance.actions import AnyAction
from appliance.state.part import AnyPart, Part
from webui.ui.candidate import Candidate
from webui.ui.tables.row import Row

Value = Callable[[Row], Any]
"""The content of a cell: a text, a number, None, a `Link`, or a list of these, one a line."""


class Look(StrEnum):
    """How a column is shown."""

    TEXT = "text"
    MONO = "mono"
    """Addresses, prefixes and other texts that are compared letter by letter."""
    NUMBER = "number"
    STATE = "state"
    """A state's word with its tone."""
    SENTENCE = "sentence"
    """Text that may wrap."""
    DURATION = "duration"
    """Seconds."""
    COUNTERS = "counters"
    """Live counters of the interface that the row is named after; the value is their names."""
    SPARK = "spark"
    """Traffic of the interface that the row is named after, as a small chart."""
    RULES = "rules"
    """Rules of a list: triples of sequence, action and words."""


@dataclass(frozen=True)
class Link:
    """A text with a link to the page of the object at `pointer`. `before` is a word in front of it.

    Without a text the object's noun and name are used.
    """

    text: str
    pointer: str
    before: str = ""

    def __str__(self) -> str:
        return f"{self.before} {self.text}".strip()


@dataclass(frozen=True)
class Column:
    """A column: a field of the object's settings, of its live state, or any `value` computed from the row."""

    field: str = ""
    """Dotted path into the settings, or with `live` into the live state."""
    title: str = ""
    """Where empty, the field's title in the document's schema."""
    look: Look = Look.TEXT
    live: bool = False
    value: Value | None = None
    counters: tuple[str, ...] = ()
    """For COUNTERS: the first is shown large, the second small below it."""
    when: Callable[[Candidate], bool] | None = None
    """Whether the table has the column, where that depends on the document."""


@dataclass(frozen=True)
class Live:
    """Live rows of a table, by the same keys as the document's."""

    source: AnyPart | Callable[[], Any]
    """The part of the live state, or a function that asks the agent another way. Tables that share it ask
    once for a page, which shows the agent's errors.
    """
    by_key: Callable[[Any], Mapping[str, Any]]
    """The rows of the answer."""
    poll: bool = True
    """Whether the page refreshes them every few seconds."""
    only_live: bool = True
    """Whether rows are shown that exist only in the live state."""
    api: str = ""
    """The REST path of a source that is not part of the state."""
    about: Callable[[Any], str] = lambda _: ""
    """The answer's remarks about its rows: a sentence below the table."""
    field: str = ""
    """Of a ``PartlyRead`` answer: the field that the rows are read from. Where it was not read, the table
    says why instead of that there is nothing.
    """

    @property
    def path(self) -> str:
        """The REST path of the same rows, for the API's panel."""
        return f"/state/{self.source.where}" if isinstance(self.source, Part) else self.api


@dataclass(frozen=True)
class SearchField:
    """A field of a search, by its name in the part's question."""

    name: str
    title: str
    example: str = ""
    choices: tuple[str, ...] = ()
    """If given, one of these is picked."""
    unpicked: str = "any"
    """The word for no choice."""
    picked: bool = False
    """Whether one of the choices is always selected, initially the first."""


@dataclass(frozen=True)
class SearchAction:
    """A button next to a search that acts on all its results, for operators."""

    action: AnyAction
    title: str
    title_of_all: str
    icon: str
    all: Mapping[str, str]
    """The action's question without a search; otherwise it consists of the search's fields."""
    confirm: Callable[[int], str]
    """The confirmation question, by the number of results."""
    confirm_all: str
    """The confirmation question without a search."""


@dataclass(frozen=True)
class Search:
    """Live rows too many to read at once: the router searches them and answers with a page.

    The part's question has ``offset`` and ``limit``, its answer ``total``.
    """

    part: AnyPart
    fields: tuple[SearchField, ...]
    rows: Callable[[Any], Iterable[tuple[str, Any]]]
    """Names and live states of the answer's rows, in its order."""
    note: Callable[[Any], str] | None = None
    """The answer's remarks about itself, such as what was not searched; nothing where it is empty."""
    act: SearchAction | None = None
    before: Callable[[], str] | None = None
    """The text of the page before a search. If given, the router is asked only once a field is filled in;
    one of the fields always has a selection.
    """
    absent: Callable[[Any], str] | None = None
    """Why nothing can be searched; nothing where it is empty."""
    says: Callable[[Any], str] | None = None
    """The answer's remark on how much was searched: a line above the rows that keeps its place."""
    unfinished: Callable[[Any], bool] | None = None
    """Whether the router is still reading: the table then refreshes until it is complete."""


@dataclass(frozen=True)
class Offer:
    """One way to fill a group of fields by picking instead of typing."""

    value: Mapping[str, str]
    """The fields that it sets; the other fields of the group are unset."""
    cells: tuple[str, ...]
    also: tuple[Mapping[str, str], ...] = ()
    """Other values with the same meaning."""


@dataclass(frozen=True)
class Offers:
    """The choices for a group of fields of the table's objects."""

    field: str
    heads: tuple[str, ...]
    ask: Callable[[], Iterable[Offer]]
    """Asks the agent. If it does not answer, the fields are typed."""


@dataclass(frozen=True)
class RowAction:
    """A button of each row that acts on the running router, for operators."""

    action: AnyAction
    title: str
    icon: str
    question: Callable[[Row], Mapping[str, str] | None]
    """The action's question for the row; None where the row has no such button."""
    confirm: Callable[[Row], str]
    """The confirmation question."""


@dataclass(frozen=True)
class Table:
    """A table of objects of the document, of live rows, or of both side by side."""

    name: str
    """Used in addresses and as the table's id."""
    noun: str
    plural: str
    columns: tuple[Column, ...]
    mapping: str = ""
    """Pointer of the mapping in the document; empty for live rows alone."""
    live: Live | None = None
    search: Search | None = None
    """Used instead of `mapping` and `live`."""
    empty: str = ""
    """The text of the page without any rows."""
    key_title: str = "Name"
    mono: bool = False
    """Whether the keys are addresses or prefixes."""
    called: Value | None = None
    """The title of a row whose key consists of several fields shown in columns; the key where None."""
    sentence: bool = False
    """Whether the keys are sentences, and may therefore wrap."""
    below: Value | None = None
    """The small line below the name; the description where None."""
    offers: tuple[Offers, ...] = ()
    actions: tuple[RowAction, ...] = ()
    own_page: str = ""
    """Name of the address of a hand-made page for one object; the generic one where empty."""
    leads_to: Callable[[Row], str] | None = None
    """Address linked from a live row."""
    pages: Callable[[Row], Iterable[tuple[str, str]]] | None = None
    """Titles and addresses of other pages about an object, linked from its own page."""


@dataclass(frozen=True)
class Fact:
    """A figure at the head of a page: the running value, and the candidate's where it differs."""

    title: str
    now: Any
    after: Any = None


@dataclass(frozen=True)
class Instance:
    """A singleton of the document that the page's tables belong to, such as the BGP instance."""

    pointer: str
    absent: str
    """The sentence shown while it is not set up."""
    setup: str
    """The button that sets it up."""
    facts: Callable[[Mapping[str, Any], Mapping[str, Any], Any], Iterable[Fact]]
    """From the running instance, the candidate's, and the live answer, which is None where there is none."""
    part: AnyPart | None = None
    """Part of the live state about the instance. Of tabs, only those with live rows ask for it."""
    edit: str = "Edit instance"
    """The button that edits it."""


@dataclass(frozen=True)
class Page:
    """A page of the sidebar."""

    name: str
    """Name of its address, and the section that it marks."""
    path: str
    title: str
    icon: str
    tables: tuple[Table, ...]
    group: str = ""
    """Title of the sidebar's group."""
    order: int = 50
    """Position in the group."""
    key: str = ""
    """The key that leads there, after ``g``."""
    instance: Instance | None = None
    tabs: bool = False
    """Whether one table is shown at a time, ``?kind=``."""
    scripts: tuple[str, ...] = ()
    """Static modules the page needs."""


@dataclass(frozen=True)
class Panel:
    """A table on the page of each object of another feature's mapping, such as the parts of the object."""

    mapping: str
    title: str
    columns: tuple[tuple[str, Callable[[Any], Any]], ...]
    """Title and content for one row."""
    rows: Callable[[Row], Iterable[Any]]
    """Raises MillraceError where they cannot be read: the panel then shows the reason."""
    when: Callable[[Row], bool]
    empty: str = "None."
    """The text where there are no rows."""
    wide: bool = False
    """Whether it takes the width of the page."""


Feature = Page | Panel
