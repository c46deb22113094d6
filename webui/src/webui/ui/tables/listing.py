"""A table for one request: rows filtered, sorted and cut to a page, with their cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page as Cut
from django.core.paginator import Paginator
from django.urls import reverse

from appliance.config import schema
from appliance.errors import NotFound
from appliance.state.part import AnyPart, Part, PartlyRead
from webui.agent import agent
from webui.ui.candidate import Candidate
from webui.ui.objects import page_of
from webui.ui.page import Live as Look
from webui.ui.page import look
from webui.ui.pointers import join
from webui.ui.tables.cells import Cell, SortKey, by_address, cell_of, natural, sort_key, title_of
from webui.ui.tables.declaration import Column, SearchField, Table
from webui.ui.tables.declaration import Look as CellLook
from webui.ui.tables.in_vrf import fields_in, question_in
from webui.ui.tables.query import Query
from webui.ui.tables.row import Row, rows_of
from webui.ui.vrfs import query_of

PER_PAGE = 200
_MANY_PAGES = 5
"""From this many pages on, a search offers a way to any of them."""
DISABLED = "disabled"
_ABBREVIATION = 3
"""A kind with at most this many letters is an abbreviation."""


@dataclass(frozen=True)
class Head:
    """The head of a column, with the address that sorts by it."""

    title: str
    css: str
    url: str
    sorted: str = ""
    """``ascending``, ``descending`` or nothing."""


@dataclass(frozen=True)
class Button:
    """A row's action, prepared for the template."""

    id: str
    """The id of its form, which is outside the table's own."""
    action: str
    title: str
    icon: str
    confirm: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ShownRow:
    """A row with everything that the page needs."""

    row: Row
    cells: tuple[Cell, ...]
    url: str
    below: str
    name: str
    """Its title."""
    buttons: tuple[Button, ...] = ()

    @property
    def tagged_disabled(self) -> bool:
        """Whether a tag says that it is disabled; not where a cell does."""
        return not self.row.enabled and not any(cell.only == DISABLED for cell in self.cells)


@dataclass
class Listing:
    """A table, prepared for the template."""

    table: Table
    query: Query
    heads: tuple[Head, ...]
    rows: list[ShownRow]
    cut: Cut[Any]
    total: int
    """The number of rows without the filter."""
    failure: str = ""
    """Why there are no live values."""
    away: str = ""
    """The same, where the agent does not answer."""
    about: str = ""
    """The router's remarks about the rows."""
    problem: str = ""
    """The problems of the question."""
    section: str = ""
    note: str = ""
    """A search's remarks about its answer."""
    says: str = ""
    """How much was searched."""
    before: str = ""
    """The text shown instead of rows, before a search or where none is possible."""
    unfinished: bool = False
    """Whether the search will find more shortly."""

    @property
    def id(self) -> str:
        """The table's id in the page."""
        return self.table.name.replace("_", "-")

    @property
    def address(self) -> str:
        """The page."""
        return reverse(f"ui:{self.section}")

    @property
    def url(self) -> str:
        """The page with this table and question."""
        return self.address + self.query.address()

    @property
    def fragment_url(self) -> str:
        """The address that refreshes the table alone, with the same question."""
        return reverse("ui:table", args=[self.table.name]) + self.query.address()

    @property
    def act_url(self) -> str:
        """The address that receives the chosen rows."""
        return reverse("ui:table_act", args=[self.table.name]) + query_of(self.query.vrf)

    @property
    def switchable(self) -> bool:
        """Whether objects can be enabled and disabled."""
        return can_be_switched(self.table)

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """Kinds of object that can be added, with their titles; empty where there is only one."""
        return kinds_of(self.table)

    @property
    def search_fields(self) -> list[tuple[SearchField, str]]:
        """Fields of the search, with their values."""
        asked = dict(self.query.fields)
        return (
            [(field, asked.get(field.name, "")) for field in self.table.search.fields]
            if self.table.search
            else []
        )

    @property
    def waits(self) -> bool:
        """Whether the router is asked only after a field is filled in."""
        return self.table.search is not None and self.table.search.before is not None

    @property
    def search_button(self) -> Button | None:
        """The actions on all results of the search."""
        act = self.table.search.act if self.table.search else None
        if act is None or not (self.total or self.note):
            return None
        title = act.title if self.query.fields else act.title_of_all
        fields = self.query.fields or tuple(act.all.items())
        confirm = act.confirm(self.total) if self.query.fields else act.confirm_all
        name = f"{self.table.name}-found"
        fields += fields_in(self.query.vrf, act.action.question)
        return Button(name, act.action.name, title, act.icon, confirm, fields)

    @property
    def jump(self) -> list[tuple[str, Any]]:
        """Fields of a form that leads to any page of a search; none where the pages are few."""
        if self.table.search is None or self.cut.paginator.num_pages < _MANY_PAGES:
            return []
        kept = {"vrf": self.query.vrf, "kind": self.query.kind, **dict(self.query.fields)}
        return [(name, value) for name, value in kept.items() if value]

    @property
    def newer(self) -> str:
        """Address of the previous page; empty on the first."""
        return self.query.address(page=self.cut.number - 1) if self.cut.has_previous() else ""

    @property
    def older(self) -> str:
        """Address of the next page; empty on the last."""
        return self.query.address(page=self.cut.number + 1) if self.cut.has_next() else ""


def can_be_switched(table: Table) -> bool:
    """Whether the table's objects have a setting ``enabled``."""
    if not table.mapping:
        return False
    try:
        return schema.at(table.mapping + join("", "enabled")).get("type") == "boolean"
    except NotFound:
        return False


def kinds_of(table: Table) -> list[tuple[str, str]]:
    """The kinds of a mapping with objects of several kinds, with their titles."""
    if not table.mapping:
        return []
    return [
        (kind, kind_title(kind)) for kind in schema.kinds(schema.entry_of(schema.at(table.mapping)) or {})
    ]


def kind_title(kind: str) -> str:
    """A kind as a title: ``sub_interface`` → ``Sub-interface``, ``gre`` → ``GRE``."""
    abbreviated = len(kind) <= _ABBREVIATION or kind.startswith("ip")
    return kind.upper() if abbreviated else kind.replace("_", "-").capitalize()


class Asked:
    """The agent's answers for one request, about one VRF: a question that several tables share is asked
    once.
    """

    def __init__(self, vrf: str = "") -> None:
        self._vrf = vrf
        self._answers: dict[Any, Look] = {}

    def answer(self, source: AnyPart | Callable[[], Any] | None) -> Look:
        """The agent's answer, or why there is none."""
        if source is None:
            return Look(None)
        name = source.name if isinstance(source, Part) else source
        if name not in self._answers:
            self._answers[name] = look(lambda: self._ask(source), None)
        return self._answers[name]

    def _ask(self, source: AnyPart | Callable[[], Any]) -> Any:
        if isinstance(source, Part):
            return agent().state(source, question_in(self._vrf, source))
        return source()

    def rows(self, table: Table) -> Look:
        """The table's live rows by key, or why there are none."""
        if table.live is None:
            return Look({})
        found = self.answer(table.live.source)
        if found.failed:
            return found
        about, field = table.live.about(found.value), table.live.field
        if isinstance(found.value, PartlyRead) and (why := found.value.why_not(field)):
            return Look({}, f"{why}.", about=about, answered=True)
        return Look(table.live.by_key(found.value), about=about)


def all_rows(table: Table, candidate: Candidate, live: Any) -> list[Row]:
    """Every row, in the document's order."""
    return rows_of(candidate, table.mapping, live, live_rows=table.live is not None and table.live.only_live)


def chosen(table: Table, rows: list[Row], query: Query) -> list[Row]:
    """Rows that contain all the words, in the requested order; objects of the document otherwise by name,
    with addresses and numbers by value.
    """
    words = query.words.lower().split()
    if words:
        rows = [row for row in rows if _has(table, row, words)]
    if query.sort:
        return sorted(rows, key=_sorter(table, query.sort), reverse=query.descending)
    return sorted(rows, key=lambda row: by_address(row.name)) if table.mapping else rows


def _has(table: Table, row: Row, words: Sequence[str]) -> bool:
    text = "\n".join(
        [row.name, below_of(table, row), *(cell.text for cell in cells_of(table, row)), row.mark]
    ).lower()
    return all(word in text for word in words)


def _sorter(table: Table, title: str) -> Any:
    column = next((one for one in table.columns if title_of(one, table) == title), None)
    if column is None:
        return lambda row: natural(row.name)

    def key(row: Row) -> SortKey:
        return sort_key(cell_of(row, column, table.mapping))

    return key


def cells_of(table: Table, row: Row) -> tuple[Cell, ...]:
    """The row's cells, in the table's order."""
    return tuple(cell_of(row, column, table.mapping) for column in table.columns)


def below_of(table: Table, row: Row) -> str:
    """The small line below the row's name."""
    return str((table.below(row) if table.below else row.said("description")) or "")


def listing(table: Table, candidate: Candidate, live: Look, query: Query, section: str) -> Listing:
    """The requested page of the table. Only rows of this page are made into cells."""
    rows = all_rows(table, candidate, live.value)
    cut = Paginator(chosen(table, rows, query), PER_PAGE).get_page(query.page)
    failure = live.failure or (candidate.unread if table.mapping else "")
    return Listing(
        table=table,
        query=query,
        heads=tuple(heads_of(table, query)),
        rows=shown_rows(table, cut.object_list, query.vrf),
        cut=cut,
        total=len(rows),
        failure=failure,
        away="" if live.answered else failure,
        about=live.about,
        section=section,
    )


def shown_rows(table: Table, rows: Iterable[Row], vrf: str = "") -> list[ShownRow]:
    """Rows of a VRF with their cells and buttons."""
    return [
        ShownRow(
            row,
            cells_of(table, row),
            own_page(table, row, vrf),
            below_of(table, row),
            name_of(table, row),
            tuple(buttons_of(table, row, number, vrf)),
        )
        for number, row in enumerate(rows)
    ]


def name_of(table: Table, row: Row) -> str:
    """The row's title."""
    return row.name if table.called is None else str(table.called(row))


def buttons_of(table: Table, row: Row, number: int = 0, vrf: str = "") -> Iterator[Button]:
    """The row's actions, in its VRF; ``number`` distinguishes the rows of a page."""
    for at, one in enumerate(table.actions):
        if (question := one.question(row)) is not None:
            name = f"{table.name}-{number}-{at}"
            fields = (*question.items(), *fields_in(vrf, one.action.question))
            yield Button(name, one.action.name, one.title, one.icon, one.confirm(row), fields)


def own_page(table: Table, row: Row, vrf: str = "") -> str:
    """Address of the object's own page; empty for a live row that has none."""
    if table.leads_to is not None:
        address = table.leads_to(row)
        return address + query_of(vrf).replace("?", "&" if "?" in address else "?")
    if table.own_page:
        return reverse(table.own_page, args=[row.name]) + query_of(vrf)
    return page_of(row.pointer) if row.pointer and row.configured else ""


def heads_of(table: Table, query: Query) -> list[Head]:
    """Heads of the name and of each column. Rows that the router searches stay in the router's order."""
    heads = [_head(table.key_title, "", query, sorts=table.search is None)]
    for column in table.columns:
        title = title_of(column, table)
        number = column.look in (CellLook.NUMBER, CellLook.DURATION, CellLook.COUNTERS)
        pictured = column.look in (CellLook.SPARK, CellLook.COUNTERS, CellLook.RULES)
        sorts = table.search is None and not pictured
        heads.append(_head(title, "num" if number else "", query, sorts=sorts))
    return heads


def _head(title: str, css: str, query: Query, *, sorts: bool = True) -> Head:
    if not sorts:
        return Head(title, css, "")
    here = query.sort == title
    url = query.address(sort=title, desc="1" if here and not query.descending else "", page="")
    return Head(title, css, url, ("descending" if query.descending else "ascending") if here else "")


def column_titles(table: Table) -> list[str]:
    """Titles of the columns that can be exported."""
    return [title_of(column, table) for column in exported(table)]


def exported(table: Table) -> list[Column]:
    """Columns with content beyond a picture."""
    return [one for one in table.columns if one.look not in (CellLook.SPARK, CellLook.COUNTERS)]
