"""What a feature declares of its page: its tables and their columns. The machinery knows no feature."""

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
"""What a cell shows: a text, a number, None, a `Link`, or a list of these, one a line."""


class Look(StrEnum):
    """How a column is shown."""

    TEXT = "text"
    MONO = "mono"
    """Addresses, prefixes and whatever else is compared letter by letter."""
    NUMBER = "number"
    STATE = "state"
    """A state's word with its tone."""
    SENTENCE = "sentence"
    """Text that is broken into lines."""
    DURATION = "duration"
    """Seconds."""
    COUNTERS = "counters"
    """Counters of the interface that the row is named after, live; the value is their names."""
    SPARK = "spark"
    """Traffic of the interface that the row is named after, as a small chart."""
    RULES = "rules"
    """Rules of a list: triples of sequence, action and words."""


@dataclass(frozen=True)
class Link:
    """A text that leads to the page of the object at `pointer`. `before` is a word in front of it.

    Without a text it is the object's noun and name.
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
    """Where empty, the title that the document's schema gives the field."""
    look: Look = Look.TEXT
    live: bool = False
    value: Value | None = None
    counters: tuple[str, ...] = ()
    """Of COUNTERS: the first is shown large, the second small below it."""
    when: Callable[[Candidate], bool] | None = None
    """Whether the table has the column, where that depends on the document."""


@dataclass(frozen=True)
class Live:
    """Live rows of a table, by the same keys as the document's."""

    source: AnyPart | Callable[[], Any]
    """The part of the live state, or what asks the agent otherwise. Tables that share it ask once for a page,
    which shows the agent's errors.
    """
    by_key: Callable[[Any], Mapping[str, Any]]
    """The rows of the answer."""
    poll: bool = True
    """Whether the page asks again every few seconds."""
    only_live: bool = True
    """Whether rows are shown that live alone has."""
    api: str = ""
    """The REST path of a source that is no part of the state."""
    about: Callable[[Any], str] = lambda _: ""
    """What the answer says beside its rows: a sentence below the table."""

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
    """Where given, one of these is picked."""
    unpicked: str = "any"
    """The word for none of them."""
    picked: bool = False
    """Whether one of the choices always is, at first the first."""


@dataclass(frozen=True)
class SearchAction:
    """A button beside a search that does something to all that it finds, for operators."""

    action: AnyAction
    title: str
    title_of_all: str
    icon: str
    all: Mapping[str, str]
    """The action's question where nothing was searched for; else it is the search's fields."""
    confirm: Callable[[int], str]
    """What is asked before, by how many were found."""
    confirm_all: str
    """What is asked before where nothing was searched for."""


@dataclass(frozen=True)
class Search:
    """Live rows that are too many to be read at once: the router searches them and answers with a page.

    The part's question has ``offset`` and ``limit``, its answer ``total``.
    """

    part: AnyPart
    fields: tuple[SearchField, ...]
    rows: Callable[[Any], Iterable[tuple[str, Any]]]
    """Names and live states of the answer's rows, in its order."""
    note: Callable[[Any], str] | None = None
    """What the answer says of itself, such as what was not looked at; nothing where it is empty."""
    act: SearchAction | None = None
    before: Callable[[], str] | None = None
    """What the page says before anything is searched for. Where it is given, the router is asked only once a
    field is filled in: one of the fields is always picked.
    """
    absent: Callable[[Any], str] | None = None
    """Why nothing can be searched; nothing where it is empty."""
    says: Callable[[Any], str] | None = None
    """What the answer says of how much was searched: a line above the rows, which keeps its place."""
    unfinished: Callable[[Any], bool] | None = None
    """Whether more is being read: the table then asks again, until all is."""


@dataclass(frozen=True)
class Offer:
    """One way to fill a group of fields, picked instead of typed."""

    value: Mapping[str, str]
    """The fields it sets; the others of the group are unset."""
    cells: tuple[str, ...]
    also: tuple[Mapping[str, str], ...] = ()
    """Other values that mean the same."""


@dataclass(frozen=True)
class Offers:
    """What a group of fields of the table's objects can be picked from."""

    field: str
    heads: tuple[str, ...]
    ask: Callable[[], Iterable[Offer]]
    """Asks the agent. Where it does not answer, the fields are typed."""


@dataclass(frozen=True)
class RowAction:
    """A button of each row that does something to the running router, for operators."""

    action: AnyAction
    title: str
    icon: str
    question: Callable[[Row], Mapping[str, str] | None]
    """The action's question for the row; None where the row has no such button."""
    confirm: Callable[[Row], str]
    """What is asked before."""


@dataclass(frozen=True)
class Table:
    """A table of objects of the document, of live rows, or of both beside each other."""

    name: str
    """In addresses and as the table's id."""
    noun: str
    plural: str
    columns: tuple[Column, ...]
    mapping: str = ""
    """Pointer of the mapping in the document; empty for live rows alone."""
    live: Live | None = None
    search: Search | None = None
    """Instead of `mapping` and `live`."""
    empty: str = ""
    """What the page says when there is nothing."""
    key_title: str = "Name"
    mono: bool = False
    """Whether the keys are addresses or prefixes."""
    called: Value | None = None
    """What a row is called where its key is of several fields that columns show; the key where None."""
    sentence: bool = False
    """Whether the keys are sentences, and so broken into lines."""
    below: Value | None = None
    """The small line below the name; the description where None."""
    offers: tuple[Offers, ...] = ()
    actions: tuple[RowAction, ...] = ()
    own_page: str = ""
    """Name of the address of a page made by hand for one object; the generic one where empty."""
    leads_to: Callable[[Row], str] | None = None
    """Address that a live row leads to."""
    pages: Callable[[Row], Iterable[tuple[str, str]]] | None = None
    """Titles and addresses of other pages about an object, which its own page leads to."""


@dataclass(frozen=True)
class Fact:
    """A figure at the head of a page: what runs now, and what will where that differs."""

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
    """From the running instance, the candidate's and the live answer, which is None where there is none."""
    part: AnyPart | None = None
    """Part of the live state that tells of the instance. Of tabs, only those with live rows ask for it."""
    edit: str = "Edit instance"
    """The button that edits it."""


@dataclass(frozen=True)
class Page:
    """A page of the sidebar."""

    name: str
    """Name of its address, and the section it marks."""
    path: str
    title: str
    icon: str
    tables: tuple[Table, ...]
    group: str = ""
    """Title of the sidebar's group."""
    order: int = 50
    """Position in the group."""
    key: str = ""
    """Key that goes there, after ``g``."""
    instance: Instance | None = None
    tabs: bool = False
    """Whether the tables are shown one at a time, ``?kind=``."""
    scripts: tuple[str, ...] = ()
    """Static modules the page needs."""


@dataclass(frozen=True)
class Panel:
    """A table on the page of each object of another feature's mapping, such as what it is made of."""

    mapping: str
    title: str
    columns: tuple[tuple[str, Callable[[Any], Any]], ...]
    """Title and what it shows of one row."""
    rows: Callable[[Row], Iterable[Any]]
    when: Callable[[Row], bool]


Feature = Page | Panel
