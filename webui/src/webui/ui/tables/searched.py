"""A table whose rows the router searches: one page of them for each request, however many there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import QueryDict

from appliance.config.problem_text import sentence_of, told_by_field
from appliance.errors import ValidationFailed
from webui.agent import agent
from webui.ui.candidate import Candidate
from webui.ui.page import Live, look
from webui.ui.tables.declaration import Search, Table
from webui.ui.tables.in_vrf import question_in
from webui.ui.tables.listing import Listing, heads_of, shown_rows
from webui.ui.tables.query import Query
from webui.ui.tables.row import Row

PER_PAGE = 100


@dataclass(frozen=True)
class _Window:
    """A part of a list, which the paginator treats as the whole."""

    rows: list[Row]
    total: int

    def __len__(self) -> int:
        return self.total

    def __getitem__(self, _part: slice) -> list[Row]:
        return self.rows


def searched(table: Table, candidate: Candidate, given: QueryDict, section: str, vrf: str = "") -> Listing:
    """The requested page of a VRF's rows, or the last one where there are fewer."""
    search = table.search
    assert search is not None
    query = Query.of(given, search, vrf)
    found, problem = Live(None), ""
    if search.before is not None and not query.fields:
        return _nothing_yet(table, look(search.before, ""), query, section)
    try:
        found = _ask(search, query, query.page)
        if found.value is not None and found.value.total and not list(search.rows(found.value)):
            found = _ask(search, query, -(-found.value.total // PER_PAGE))
    except ValidationFailed as error:
        titles = {"offset": "Page", **{field.name: field.title for field in search.fields}}
        problem = sentence_of(error.problems, titles)
    rows = [
        Row(name, "", {}, state, candidate, configured=False)
        for name, state in (search.rows(found.value) if found.value is not None else ())
    ]
    total = found.value.total if rows else 0
    window: Any = _Window(rows, total)
    cut: Any = Paginator(window, PER_PAGE).get_page(query.page)
    return Listing(
        table=table,
        query=query,
        heads=tuple(heads_of(table, query)),
        rows=shown_rows(table, cut.object_list, vrf),
        cut=cut,
        total=total,
        failure=found.failure,
        away="" if found.answered else found.failure,
        problem=problem,
        section=section,
        note=_said(search.note, found),
        before=_said(search.absent, found),
        says=_said(search.says, found),
        unfinished=bool(_said(search.unfinished, found)),
    )


def _said(what: Callable[[Any], Any] | None, found: Live) -> Any:
    return "" if what is None or found.value is None else what(found.value)


def _nothing_yet(table: Table, before: Live, query: Query, section: str) -> Listing:
    return Listing(
        table=table,
        query=query,
        heads=(),
        rows=[],
        cut=Paginator([], PER_PAGE).get_page(1),
        total=0,
        failure=before.failure,
        away="" if before.answered else before.failure,
        before=before.value,
        section=section,
    )


def _ask(search: Search, query: Query, page: int) -> Live:
    """Raises ValidationFailed."""
    window = {"offset": (page - 1) * PER_PAGE, "limit": PER_PAGE}
    with told_by_field():
        question = question_in(query.vrf, search.part, {**dict(query.fields), **window})
    return look(lambda: agent().state(search.part, question), None)
